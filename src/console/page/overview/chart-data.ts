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
