const DURATION_UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The milliseconds of `30s`, `10m`, `72h` or `7d`; undefined if it is not a duration or is over 10
 * years.
 */
export function parseDuration(value: string): number | undefined {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(value);
  if (match === null) return undefined;
  // The expression accepts only these units.
  const unit = match[2] as keyof typeof DURATION_UNITS;
  const duration = Number(match[1]) * DURATION_UNITS[unit];
  return duration <= 3650 * DURATION_UNITS.d ? duration : undefined;
}

/** The inverse of `parseDuration`, in the largest unit that divides it: `7d`, `90s`, `0ms`. */
export function writtenDuration(ms: number): string {
  const [unit, size] = Object.entries(DURATION_UNITS).findLast(
    ([, each]) => ms >= each && ms % each === 0,
  ) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
