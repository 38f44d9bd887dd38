/**
 * How often a property is tried, or how many seeds are played: `whole` times for CI and for
 * `npm run test:all`, otherwise a fifth of them.
 */
export function runCount(whole: number): number {
  const { CI, SLUICE_TEST_WHOLE } = process.env;
  return CI === undefined && SLUICE_TEST_WHOLE === undefined ? Math.ceil(whole / 5) : whole;
}

/** All cases of an enumeration for the whole, otherwise each fifth of them: neighbours are alike. */
export function runCases<Case>(all: readonly Case[]): Case[] {
  const step = Math.round(all.length / runCount(all.length));
  return all.filter((_, n) => n % step === 0);
}
