import { expect, test } from '@jest/globals';

/** Patterns that once let one message stop the gateway. */
const PUT_BACK: readonly (readonly [where: string, pattern: RegExp])[] = [
  ['an unfolded header', /[\r\n]+(?=[ \t])/g],
  ['the address of a profile', /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/],
  [
    'the head of an upload',
    /\s+|<!--[^]*?-->|<\?[^]*?\?>|<!doctype\s+(?<name>[^\s>[]+)[^>[]*(?:\[[^]*?\]\s*)?>/iy,
  ],
  ['the name of an upload', /^[.\s]+|[.\s]+$/g],
  ['a heading in a bounce', /^-{3,}.*-{3,}$/i],
];

test.each(PUT_BACK)(
  'the check of patterns refuses that of %s',
  async (_where, { source, flags }) => {
    const { troubleWith } = await import('../../scripts/patterns/linear.mjs');
    expect(troubleWith(source, flags)).toMatch(/polynomial|exponential|undecided/);
  },
  120_000,
);
