/** A part of the past, by DateSent. The last one has no end: what comes in meanwhile belongs to it. */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

/** The time from `from` until now, in parts of a bounded length, the oldest first. */
export function spansSince(from: number, now: number, lengthMs: number): readonly Span[] {
  const spans: Span[] = [];
  let start = from;
  for (; start + lengthMs < now; start += lengthMs)
    spans.push({ from: start, to: start + lengthMs });
  return [...spans, { from: start }];
}

/** Two halves of a span; undefined when it is too short for that: the API knows whole seconds. */
export function halves({ from, to }: Span, now: number): readonly [Span, Span] | undefined {
  const middle = Math.floor((from + (to ?? now)) / 2000) * 1000;
  if (middle - from < 1000) return undefined;
  return [
    { from, to: middle },
    { from: middle, ...(to !== undefined && { to }) },
  ];
}
