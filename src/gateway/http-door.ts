import type { RequestListener } from 'node:http';
import { createNetworks } from '../runtime/ip-addresses.ts';
import { createHttpListener, type HttpListener } from '../runtime/http-listener.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LiveConfig } from './live-config.ts';

/** Cut-offs are told together: somebody who causes thousands of them fills no disk. */
const TOLD_EVERY_MS = 10_000;

interface DoorParts {
  readonly live: LiveConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A listener with the configured limits, whose cut-offs are counted and told. */
export function createHttpDoor(
  door: 'public' | 'console',
  onRequest: RequestListener,
  { live, logger, metrics }: DoorParts,
): HttpListener {
  const { maxConnections, maxConnectionsPerIp } = live.value.http;
  const trusted = live.derive(`${door} proxies`, ['http.trustProxy'], ({ http }) =>
    createNetworks(http.trustProxy),
  );
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    timer = undefined;
    logger.warn('http.cut_off', { door, ...Object.fromEntries(counts) });
    counts.clear();
  };
  return createHttpListener(onRequest, {
    ...{ maxConnections, maxConnectionsPerIp },
    trusted: { has: (address) => trusted.value.has(address) },
    onOpen: (connections) => metrics.httpConnections.set({ door }, connections),
    onCutOff: (reason) => {
      metrics.httpCutOff.inc({ door, reason });
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      timer ??= setTimeout(tell, TOLD_EVERY_MS).unref();
    },
  });
}
