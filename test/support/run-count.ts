/**
 * How often a property is tried, or how many seeds are played: `whole` times with CI set, else a
 * fifth of them.
 */
export function runCount(whole: number): number {
  return process.env['CI'] === undefined ? Math.ceil(whole / 5) : whole;
}
