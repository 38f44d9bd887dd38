import type { CompleteConfig } from '../config/complete.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Clock } from '../runtime/clock.ts';
import { version } from './version.ts';

/**
 * Starts tracing when a collector is configured. Otherwise the tracing library is not even loaded.
 */
export async function startTracing(
  { tracing }: CompleteConfig,
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
): Promise<Tracing | undefined> {
  const { endpoint, headers, sampleRatio, serviceName } = tracing;
  if (endpoint === undefined || sampleRatio === 0) return undefined;
  const { openTracing } = await import('../observability/open-telemetry.ts');
  return openTracing(
    {
      ...{ endpoint, sampleRatio, serviceName, version: version() },
      headers: Object.fromEntries(headers.map((header) => pair(header.reveal()))),
    },
    { clock, count: (outcome, spans) => metrics.traceSpans.inc({ outcome }, spans) },
  );
}

function pair(header: string): [string, string] {
  const colon = header.indexOf(':');
  return [header.slice(0, colon), header.slice(colon + 1).trim()];
}
