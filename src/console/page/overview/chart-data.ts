import type { Incident } from '../../contract.ts';

/** Seconds since the epoch, then one row of values per series; null for no value. */
export type ChartData = readonly [readonly number[], ...(readonly (number | null)[])[]];

/** Points that are missing in a row before a line is broken: one may be late. */
const MISSING = 3;

/**
 * With a point without values in each time without points, which no line may cross: the gateway was suspended, or the
 * connection was lost.
 */
export function withGaps([times, ...rows]: ChartData, stepMs: number): ChartData {
  const longest = (MISSING * stepMs) / 1_000;
  const before = times.flatMap((at, index) => {
    const next = times[index + 1];
    return next !== undefined && next - at > longest ? [index] : [];
  });
  if (before.length === 0) return [times, ...rows];
  const filled = <T>(values: readonly T[], between: (index: number) => T): readonly T[] =>
    values.flatMap((value, index) => (before.includes(index) ? [value, between(index)] : [value]));
  return [
    filled(times, (index) => ((times[index] ?? 0) + (times[index + 1] ?? 0)) / 2),
    ...rows.map((row) => filled(row, () => null)),
  ];
}

/** A line in a chart at the time of an incident. */
export interface Marker {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly tone: 'plain' | 'warning' | 'danger';
  readonly label: string;
}

/** The starts, reloads and alerts of a gateway. */
export const markersOf = (incidents: readonly Incident[]): readonly Marker[] =>
  incidents.flatMap((incident): Marker[] => {
    const at = incident.at / 1_000;
    switch (incident.kind) {
      case 'start':
        return [{ at, tone: 'plain', label: 'Started' }];
      case 'reload':
        return [{ at, tone: 'plain', label: `Configuration: ${incident.outcome}` }];
      case 'alert': {
        const tone = incident.severity === 'critical' ? 'danger' : 'warning';
        const began: Marker = { at, tone, label: `Alert: ${incident.summary}` };
        const { until } = incident;
        return until === undefined
          ? [began]
          : [began, { at: until / 1_000, tone: 'plain', label: `Over: ${incident.summary}` }];
      }
      default:
        return [];
    }
  });

/** The markers within this distance, in seconds. */
export const markersNear = (
  markers: readonly Marker[],
  at: number,
  distance: number,
): readonly Marker[] => markers.filter((each) => Math.abs(each.at - at) <= distance);

/** The points of the last `ms` milliseconds before the newest one. */
export function newest([times, ...rows]: ChartData, ms: number): ChartData {
  const from = (times.at(-1) ?? 0) - ms / 1_000;
  const first = Math.max(
    0,
    times.findIndex((at) => at >= from),
  );
  return [times.slice(first), ...rows.map((row) => row.slice(first))];
}
