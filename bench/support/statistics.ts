/** The median; the mean of the two middle values of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? NaN;
  return Number.isInteger(half) ? (upper + (sorted[half - 1] ?? NaN)) / 2 : upper;
}

/** The value below which this share of all values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
