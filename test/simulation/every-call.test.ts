import { describe, expect, test } from '@jest/globals';
import type { OperationName } from '../../src/spool/sqlite/operations.ts';
import { runCases } from '../support/run-count.ts';
import { play, type Played, told } from './play.ts';
import { DEFAULT_TRAITS } from './platform-traits.ts';
import type { Meddling } from './meddling.ts';
import type { Scenario, SimulatedMessage } from './scenario.ts';
import type { CallFate } from './store.ts';

const SHOPS = [1, 2].map((nth) => ({
  shopId: `00000000-0000-4000-8000-00000000000${nth}`,
  apiKey: `key-${nth}`,
}));
/** How long calls fail once they begin to. */
const FAILS_MS = 5000;

const message = (
  nth: number,
  change: Partial<SimulatedMessage> & Pick<SimulatedMessage, 'channel' | 'lane'>,
): SimulatedMessage => ({
  ...{ tag: `#0.${nth}.0#`, at: 200 * nth, shopId: SHOPS[nth % 2]?.shopId ?? '' },
  ...{ isStrange: false, copies: 1 },
  wanted: {
    contact: change.channel === 'email' ? { email: 'a@mail.example' } : { phone: '+15550002222' },
    ...{ content: `#0.${nth}.0# hello`, format: 'TEXT', cc: [] },
    attachments: nth === 1 ? ['a.txt'] : [],
  },
  ...change,
});

/** A text message, an email with a file, two chat messages of one lane; no other faults. */
const SCENARIO: Scenario = {
  ...{ shops: SHOPS, traits: DEFAULT_TRAITS, happenings: [], concurrency: 4 },
  ...{ requestTimeoutMs: 10_000, activeMs: 2000 },
  messages: [
    message(0, { channel: 'sms', lane: 'a' }),
    message(1, { channel: 'email', lane: 'b' }),
    message(2, { channel: 'web_chat', lane: 'c' }),
    message(4, { channel: 'web_chat', lane: 'c' }),
  ],
};

const playWith = (meddling: Meddling): Promise<Played> =>
  play(1, { ...meddling, scenario: () => SCENARIO });

/** Counts the calls of the beginning only, because later ones repeat. */
async function counted(): Promise<{ readonly calls: number; readonly requests: number }> {
  let [calls, requests] = [0, 0];
  await playWith({
    fate: (_name, nth, atMs) => {
      if (atMs < 2500) calls = nth;
      return undefined;
    },
    request: (nth, atMs) => {
      if (atMs < 2500) requests = nth;
      return undefined;
    },
  });
  return { calls, requests };
}

/** The numbers from 1 on. */
const numbers = (to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil(to / step) }, (_, n) => 1 + n * step);

const FATES: readonly CallFate[] = ['not done', 'full', 'done, but the process dies'];
const NETWORK = [{ kind: 'refused' }, { kind: 'reset', afterMs: 5 }, { kind: 'silence' }] as const;

describe('a fault at every call', () => {
  test.each(FATES)('of the store, once: %s', async (fate) => {
    const { calls } = await counted();
    expect(calls).toBeGreaterThan(20);
    for (const at of runCases(numbers(calls))) {
      const played = await playWith({ fate: (_name, nth) => (nth === at ? fate : undefined) });
      expect(wrong(played, at)).toBe('');
    }
  });

  test.each(FATES)('of the store, and from then on for a while: %s', async (fate) => {
    const { calls } = await counted();
    for (const at of runCases(numbers(calls, 2))) {
      let from: number | undefined;
      const fails = (_name: OperationName, nth: number, atMs: number) => {
        if (nth >= at) from ??= atMs;
        return from !== undefined && atMs < from + FAILS_MS ? fate : undefined;
      };
      expect(wrong(await playWith({ fate: fails }), at)).toBe('');
    }
  });

  test.each(NETWORK)('of the network, once and from then on: %s', async (fault) => {
    const { requests } = await counted();
    expect(requests).toBeGreaterThan(5);
    for (const at of runCases(numbers(requests))) {
      const once = await playWith({ request: (nth) => (nth === at ? fault : undefined) });
      expect(wrong(once, at)).toBe('');
      const on = await playWith({
        request: (nth, atMs) => (nth >= at && atMs < 20_000 ? fault : undefined),
      });
      expect(wrong(on, at)).toBe('');
    }
  });
});

/** The violations and undelivered messages: all four must arrive, more than invariants require. */
function wrong(played: Played, at: number): string {
  const { run, violations } = played;
  const missing = run.fates.filter(({ deliveredAt }) => deliveredAt === undefined);
  const all = [
    ...violations.filter((violation) => !/requests for|submitted|all was well/.test(violation)),
    ...missing.map((fate) => `${fate.message.tag} was not delivered`),
  ];
  return all.length === 0 ? '' : `call ${at}: ${all.join('; ')}\n${told(played)}`;
}
