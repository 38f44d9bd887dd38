import type { CollectStatus, GatewayStatus } from '../../observability/status.ts';
import { type Channel, CHANNELS } from '../../domain/channel.ts';
import { type Limits, shownConditions } from '../../operations/conditions.ts';
import type { Alert, Overview, ShopFigures } from '../contract.ts';
import type { LiveFigures } from './live-figures.ts';

export interface OverviewParts {
  readonly status: CollectStatus;
  readonly figures: LiveFigures;
  readonly alerts: () => readonly Alert[];
  readonly version: string;
  readonly demo: boolean;
  /** From where on something is a condition. */
  readonly limits: Limits;
  /** The enabled channels. */
  readonly enabled: () => ReadonlySet<Channel>;
}

/** The gateway's current state, for the overview. */
export async function overviewOf(parts: OverviewParts): Promise<Overview> {
  const [status, rates] = await Promise.all([parts.status(), parts.figures.rates()]);
  const enabled = parts.enabled();
  const latency = parts.figures.latency();
  const { at, startedAt, disk, certificate, sockets, fleet } = status;
  return {
    at,
    startedAt,
    version: parts.version,
    demo: parts.demo,
    deliveryPaused: status.deliveryPaused,
    channels: CHANNELS.map((channel) => ({
      channel,
      enabled: enabled.has(channel),
      acceptedPerMinute: rates.accepted[channel],
      deliveredPerMinute: rates.delivered[channel],
      refusedPerMinute: rates.refused[channel],
      accepted: rates.acceptedTotal[channel],
    })),
    ...(latency && { latency }),
    queue: queueOf(status),
    shops: status.shops.map((shop) => shopFigures(shop, status)),
    disk,
    ...(certificate && { certificate }),
    sockets,
    ...(fleet && { instances: fleet.instances }),
    refusedPages: status.refusedPages,
    conditions: shownConditions(status, parts.limits),
    alerts: parts.alerts(),
  };
}

function queueOf({ counts }: GatewayStatus): Overview['queue'] {
  const of = (state: string) => sum(counts.filter((each) => each.state === state));
  const queuedSince = counts.flatMap(({ state, oldestAt }) => (state === 'queued' ? oldestAt : []));
  return {
    queued: of('queued'),
    delivering: of('delivering'),
    ...(queuedSince.length > 0 && { oldestQueuedAt: Math.min(...queuedSince) }),
    dead: of('dead'),
    held: of('held'),
    suppressed: of('suppressed'),
  };
}

function shopFigures(shop: GatewayStatus['shops'][number], { counts }: GatewayStatus): ShopFigures {
  const own = counts.filter((each) => each.shop === shop.shop);
  const of = (state: string) => sum(own.filter((each) => each.state === state));
  return {
    ...shop,
    queued: of('queued'),
    delivering: of('delivering'),
    dead: of('dead'),
    held: of('held'),
    suppressed: of('suppressed'),
  };
}

const sum = (counts: readonly { readonly count: number }[]): number =>
  counts.reduce((total, { count }) => total + count, 0);
