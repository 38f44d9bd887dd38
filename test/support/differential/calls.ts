import { Buffer } from 'node:buffer';
import { CHANNELS } from '../../../src/domain/channel.ts';
import type { Sighting } from '../../../src/domain/person-names.ts';
import { asEntryId, asShopId, type EntryId, type ShopId } from '../../../src/domain/ids.ts';
import {
  type ClaimSource,
  type NewEntry,
  type Outcome,
  WAITS_FOR,
} from '../../../src/spool/entry.ts';
import { refusalNumber } from '../../../src/spool/refusals.ts';
import type { RateLimits } from '../../../src/spool/sender-rates.ts';
import type { Dice } from '../dice.ts';
import { because, retryLater } from '../entries.ts';
import { CHAT_CALLS } from './chat-calls.ts';
import { ERASURE_CALLS } from './erasure-calls.ts';
import { OPERATOR_CALLS } from './operator-calls.ts';
import type { Side } from './side.ts';

/** One call that both stores are asked, with the same arguments. */
export interface Call {
  readonly name: string;
  readonly args: unknown;
  readonly make: (side: Side) => Promise<unknown>;
}

/** What a sequence is about: few enough of each that its calls meet. */
export interface Cast {
  readonly shops: readonly ShopId[];
  /** Accepted, or to be. */
  readonly entries: NewEntry[];
  readonly startedAt: number;
  /** For what is counted by time: the same for a seed, whenever it is played. */
  readonly countedAt: number;
}

const PLACE = { scope: 'w/whatsapp', ours: 'us' };
const NUMBERS = ['+1', '+2'];
const USERS = ['A', 'B', 'C'];
const LANES = [
  'ann',
  'bob',
  'cy',
  ...[...NUMBERS, ...USERS].map((name) => `w/whatsapp/us/${name}`),
];
const KEYS = 6;
const WORDS = ['400 invalid', '422 email'];
const MINUTE = 60_000;
const LEASE_MS = 10 * MINUTE;
/** So far in the future that no sequence gets there. */
const MUCH_LATER_MS = 24 * 60 * MINUTE;
/** What was settled just now is old enough. */
const NOTHING_KEPT_MS = -MINUTE;
/** In minutes. */
const LATE = [0, 0, 5, 10, 11, 59, 60, 61, 130, 700, 1439, 1440, 1441];
const LIMITS: RateLimits = {
  ...{ per10min: 3, perHour: 5, perDay: 8, perThreadPer10min: 2 },
  sameBodyPerHour: 3,
};

export const castOf = (seed: number, startedAt: number): Cast => ({
  shops: [0, 1].map((n) => asShopId(uuid(seed, 9, n))),
  entries: [],
  startedAt,
  countedAt: Date.UTC(2026, 0, 1) + seed * 7 * MINUTE,
});

const uuid = (seed: number, kind: number, n: number): string =>
  `${String(n).padStart(8, '0')}-0000-4000-8000-${kind}${String(seed).padStart(11, '0')}`;

export type Make = (dice: Dice, cast: Cast, seed: number) => Omit<Call, 'name'>;

/** What a message from WhatsApp says of its sender; few names, which change hands all the time. */
function aSender(dice: Dice, at: number): Sighting {
  const some = (names: readonly string[], percent: number) =>
    dice.chance(percent) ? dice.pick(names) : undefined;
  const [number, userId] = [some(NUMBERS, 60), some(USERS, 70)];
  const [previousNumber, previousUserId] = [some(NUMBERS, 10), some(USERS, 10)];
  return {
    ...{ ...PLACE, at: at - (dice.chance(20) ? dice.below(40) * 24 * 60 * MINUTE : 0) },
    ...(number !== undefined && { number }),
    ...((userId !== undefined || number === undefined) && { userId: userId ?? 'A' }),
    ...(previousNumber !== undefined && previousNumber !== number && { previousNumber }),
    ...(previousUserId !== undefined && previousUserId !== userId && { previousUserId }),
  };
}

const anEntryOf = (dice: Dice, { shops, entries, startedAt }: Cast, seed: number): NewEntry => {
  const n = entries.length;
  const channel = dice.pick(CHANNELS);
  const entry: NewEntry = {
    id: asEntryId(uuid(seed, 1, n)),
    kind: dice.chance(10) ? 'event' : 'message',
    ...{ shopId: dice.pick(shops), channel, lane: dice.pick(LANES) },
    dedupKey: dice.chance(25) ? `key ${dice.below(KEYS)}` : `key of ${n}`,
    remoteId: dice.chance(20) ? `<${dice.below(KEYS)}@x>` : `<of ${n}@x>`,
    ...(channel === 'email' && { remoteIdIfTaken: `<instead of ${n}@x>` }),
    // Some arrive late.
    receivedAt: startedAt - (dice.chance(20) ? dice.below(MINUTE) : 0) + n,
    meta: { n },
    raw: { kind: 'inline', bytes: Buffer.from(`raw ${n} for ${dice.pick(LANES)}`), checksum: n },
    ...(dice.chance(50) && {
      summary: { from: dice.pick(LANES), to: 'us', subject: '', more: dice.pick(LANES) },
    }),
    ...(dice.chance(10) && { hold: because('held') }),
    ...(dice.chance(10) && { detached: true }),
    ...(channel === 'sms' && dice.chance(50) && { sender: aSender(dice, startedAt) }),
  };
  entries.push(entry);
  return entry;
};

/** A follow-up says nothing new of its sender. */
const aFollowUp: typeof anEntryOf = (...args) => {
  const { sender: _sender, ...entry } = anEntryOf(...args);
  return entry;
};

const sorted = async (answer: Promise<Iterable<string>>) => [...(await answer)].toSorted();

export const someEntry = (dice: Dice, { entries }: Cast, seed: number): EntryId =>
  entries.length === 0 ? asEntryId(uuid(seed, 1, 0)) : dice.pick(entries).id;

const laneOf = (dice: Dice, { shops }: Cast) => ({
  ...{ shopId: dice.pick(shops), channel: dice.pick(CHANNELS), lane: dice.pick(LANES) },
});

const SOURCES: readonly ClaimSource[][] = [
  ['due'],
  ['untried', 'due'],
  [WAITS_FOR.shop, WAITS_FOR.media, 'due'],
  [refusalNumber(WORDS[0] ?? '')],
];

function anOutcome(dice: Dice): Outcome {
  switch (dice.below(6)) {
    case 0:
      return { state: 'dead', reason: because(dice.pick(['dead', 'no ann', 'no bob'])) };
    case 1:
      return { state: 'held', reason: because('held') };
    case 2:
      return { state: 'suppressed', reason: because('suppressed') };
    case 3: {
      const waits = [...Object.values(WAITS_FOR), refusalNumber(WORDS[0] ?? '')];
      return retryLater({
        retryInMs: dice.chance(30) ? MUCH_LATER_MS : 0,
        waitsFor: dice.pick(waits),
        reason: dice.chance(50) ? because('later') : undefined,
        ...{ failed: dice.chance(70), counts: dice.chance(50), detach: dice.chance(20) },
      });
    }
    default:
      return {
        state: 'delivered',
        ...(dice.chance(70) && { platformMessageId: `message ${dice.below(KEYS)}` }),
        ...(dice.chance(70) && { conversationId: `conversation ${dice.below(KEYS)}` }),
        ...(dice.chance(10) && { caveat: because('caveat') }),
      };
  }
}

/** The calls by name, with how often each is made beside the others. */
const CALLS: Readonly<Record<string, readonly [weight: number, make: Make]>> = {
  accept: [
    12,
    (dice, cast, seed) => {
      const entries = Array.from({ length: 1 + dice.below(3) }, () => anEntryOf(dice, cast, seed));
      return { args: entries, make: ({ spool }) => spool.accept(entries) };
    },
  ],
  claim: [
    12,
    (dice, { shops }) => {
      const from = dice.pick(SOURCES);
      const requests = shops.map((shopId) => ({ shopId, limit: 100, from }));
      return { args: from, make: (side) => side.claim(requests, LEASE_MS) };
    },
  ],
  settle: [
    16,
    (dice, cast, seed) => {
      const id = someEntry(dice, cast, seed);
      const outcome = anOutcome(dice);
      const settlement = {
        steps: [{ at: 1, step: 'tried', detail: { n: dice.below(3), answer: dice.pick(LANES) } }],
        ...(dice.chance(30) && { notes: { n: dice.below(3) } }),
        ...(dice.chance(10) && { followUps: [aFollowUp(dice, cast, seed)] }),
      };
      return {
        args: { id, outcome, settlement },
        make: (side) => side.settle(id, outcome, settlement),
      };
    },
  ],
  recover: [1, () => ({ args: [], make: (side) => side.recover() })],
  sweep: [
    1,
    (dice) => {
      const kept = () => (dice.chance(50) ? NOTHING_KEPT_MS : MUCH_LATER_MS);
      const retention = { rawMs: kept(), deadMs: kept(), entriesMs: kept() };
      return {
        args: retention,
        make: async ({ spool }) => {
          const { entries, raws } = await spool.sweep(retention);
          return { entries, raws };
        },
      };
    },
  ],
  renew: [2, () => ({ args: [], make: (side) => side.renew(LEASE_MS) })],
  saveMedia: [
    2,
    (dice, cast, seed) => {
      const [id, part, media] = [someEntry(dice, cast, seed), `${dice.below(2)}`, { id: 'm' }];
      return { args: { id, part }, make: (side) => side.saveMedia(id, part, media) };
    },
  ],
  requeue: [4, moving('requeue')],
  discard: [3, moving('discard')],
  hasten: [
    2,
    (dice, { shops }) => {
      const shopId = dice.pick(shops);
      return { args: shopId, make: ({ spool }) => spool.hasten(shopId, 0) };
    },
  ],
  waitForShopInstead: [
    2,
    (dice, { shops }) => {
      const [shopId, waits] = [dice.pick(shops), dice.pick([2, refusalNumber(WORDS[0] ?? '')])];
      return {
        args: { shopId, waits },
        make: ({ spool }) => spool.waitForShopInstead(shopId, waits),
      };
    },
  ],
  rememberConversation: [
    4,
    (dice, cast, seed) => {
      const lane = laneOf(dice, cast);
      const key = dice.chance(50) ? lane : { ...lane, id: someEntry(dice, cast, seed) };
      const id = `conversation ${dice.below(KEYS)}`;
      return {
        args: { key, id },
        make: ({ spool }) => spool.rememberConversation(key, id),
      };
    },
  ],
  forgetConversation: [
    1,
    (dice, cast) => {
      const lane = laneOf(dice, cast);
      return { args: lane, make: ({ spool }) => spool.forgetConversation(lane) };
    },
  ],
  conversation: [
    2,
    (dice, cast) => {
      const lane = laneOf(dice, cast);
      return {
        args: lane,
        make: async ({ spool }) => (await spool.conversation(lane))?.id,
      };
    },
  ],
  personOf: [
    3,
    (dice, cast, seed) => {
      const lane = { ...laneOf(dice, cast), channel: 'sms' as const };
      const key = dice.chance(50) ? lane : { ...lane, id: someEntry(dice, cast, seed) };
      return {
        args: key,
        make: async ({ spool }) => {
          const person = await spool.personOf(key);
          return person && { ...person, conversations: person.conversations.toSorted() };
        },
      };
    },
  ],
  laneOf: [
    2,
    (dice, cast) => {
      const { shopId, channel } = laneOf(dice, cast);
      const dedupKey = dice.chance(50) ? `key ${dice.below(KEYS)}` : undefined;
      const known = {
        shopId,
        channel,
        dedupKey,
        conversationId: `conversation ${dice.below(KEYS)}`,
      };
      return { args: known, make: ({ spool }) => spool.laneOf(known) };
    },
  ],
  ownPlatformMessages: [
    1,
    (dice, { shops }) => {
      const [shopId, ids] = [dice.pick(shops), ['message 0', 'message 1', 'message 2']];
      return {
        args: shopId,
        make: ({ spool }) => sorted(spool.ownPlatformMessages(shopId, ids)),
      };
    },
  ],
  knownKeys: [
    2,
    (dice, cast) => {
      const { shopId, channel } = laneOf(dice, cast);
      const keys = ['key 0', 'key 1', 'key of 0', 'key of 1'];
      return {
        args: { shopId, channel },
        make: ({ spool }) => sorted(spool.knownKeys(shopId, channel, keys)),
      };
    },
  ],
  knownEmailIds: [
    2,
    (dice, { shops }) => {
      const [shopId, ids] = [dice.pick(shops), ['<0@x>', '<1@x>', '<instead of 1@x>']];
      return {
        args: shopId,
        make: ({ spool }) => sorted(spool.knownEmailIds(shopId, ids)),
      };
    },
  ],
  countMessage: [
    40,
    (dice, { shops, countedAt }) => {
      const shopId = dice.pick(shops);
      const n = dice.below(40);
      const message = {
        ...{ shopId, message: `${n}`, person: LANES[n % 2] ?? '' },
        ...(n % 3 > 0 && { thread: `${n % 7 > 2}` }),
        ...(n % 5 > 1 && { body: `${n % 11 > 4}` }),
        // Late and out of order, up to the windows' ends and over them; a repeated one has its first time.
        at: countedAt - (LATE[n % LATE.length] ?? 0) * MINUTE + (n % 3),
      };
      // Only some channels have a daily limit.
      const { perDay: _perDay, ...hourly } = LIMITS;
      const limits = shopId === shops[0] ? LIMITS : hourly;
      return {
        args: { message, limits },
        make: ({ spool }) => spool.countMessage(message, limits),
      };
    },
  ],
  raiseMark: [
    2,
    (dice, _cast, seed) => {
      const [name, most] = [`${seed}/${dice.below(2)}`, dice.below(3)];
      return { args: { name, most }, make: ({ spool }) => spool.raiseMark(name, most) };
    },
  ],
  setMark: [
    1,
    (dice, _cast, seed) => {
      const [name, value] = [`${seed}/${dice.below(2)}`, dice.below(4) - 1];
      return { args: { name, value }, make: ({ spool }) => spool.setMark(name, value) };
    },
  ],
  mark: [
    1,
    (dice, _cast, seed) => {
      const name = `${seed}/${dice.below(2)}`;
      return { args: name, make: ({ spool }) => spool.mark(name) };
    },
  ],
  countRefusal: [
    6,
    (dice, cast, seed) => {
      const { shopId, channel, lane } = laneOf(dice, cast);
      const words = dice.pick(WORDS);
      const refusal = {
        ...{ shopId, number: refusalNumber(words), words, lane: { channel, lane } },
        ...{ id: someEntry(dice, cast, seed), waited: dice.chance(30) },
      };
      return { args: refusal, make: ({ spool }) => spool.countRefusal(refusal) };
    },
  ],
  refusals: [
    2,
    (_dice, { shops }) => ({
      args: [],
      make: async ({ spool }) =>
        (await spool.refusals())
          .filter(({ shopId }) => shops.includes(shopId))
          .map(({ shopId, number, words, count }) => ({ shopId, number, words, count })),
    }),
  ],
  refusedBefore: [
    2,
    (dice, { shops }) => {
      const [shopId, number] = [dice.pick(shops), refusalNumber(dice.pick(WORDS))];
      return { args: { shopId, number }, make: ({ spool }) => spool.refusedBefore(shopId, number) };
    },
  ],
  endRefusal: [
    1,
    (dice, { shops }) => {
      const [shopId, number] = [dice.pick(shops), refusalNumber(dice.pick(WORDS))];
      return { args: { shopId, number }, make: ({ spool }) => spool.endRefusal(shopId, number) };
    },
  ],
  requestProbe: [
    1,
    (dice, { shops }) => {
      const shopId = dice.pick(shops);
      return { args: shopId, make: ({ spool }) => spool.requestProbe(shopId) };
    },
  ],
  renewSummaries: [1, () => ({ args: [], make: (side) => side.renewSummaries() })],
  // What was requested is not taken here: PostgreSQL looks for it at most every so often.
  optOut: [2, opting('optOut')],
  optIn: [2, opting('optIn')],
  isOptedOut: [
    2,
    (dice, { shops }) => {
      const [shopId, lane] = [dice.pick(shops), dice.pick(LANES)];
      return { args: { shopId, lane }, make: ({ optOuts }) => optOuts.isOptedOut(shopId, lane) };
    },
  ],
  list: [
    2,
    (dice, { shops }) => {
      const filter = {
        ...{ shopId: dice.pick(shops), limit: 1 + dice.below(5) },
        ...(dice.chance(50) && { channel: dice.pick(CHANNELS) }),
        ...(dice.chance(50) && { states: ['queued', 'dead'] as const }),
      };
      return {
        args: filter,
        make: async ({ spool }) => (await spool.list(filter)).map(({ id }) => id),
      };
    },
  ],
  counts: [
    1,
    (_dice, { shops }) => ({
      args: [],
      make: async ({ spool }) =>
        (await spool.counts())
          .filter(({ shopId }) => shops.includes(shopId))
          .map(({ shopId, channel, state, count }) => `${shopId} ${channel} ${state} ${count}`)
          .sort(),
    }),
  ],
  backlogBytes: [
    1,
    (_dice, { shops }) => ({
      args: [],
      make: async ({ spool }) => {
        const bytes = await spool.backlogBytes();
        return shops.map((shopId) => bytes.get(shopId) ?? 0);
      },
    }),
  ],
};

function moving(name: 'requeue' | 'discard'): Make {
  return (dice, cast, seed) => {
    const id = someEntry(dice, cast, seed);
    const by = dice.chance(50) ? 'operator' : undefined;
    return { args: { id, by }, make: ({ spool }) => spool[name](id, by) };
  };
}

function opting(name: 'optOut' | 'optIn'): Make {
  return (dice, { shops }) => {
    const [shopId, lane, sid] = [dice.pick(shops), dice.pick(LANES), `sid ${dice.below(KEYS)}`];
    return { args: { shopId, lane, sid }, make: ({ optOuts }) => optOuts[name](shopId, lane, sid) };
  };
}

const BY_WEIGHT = Object.entries({
  ...CALLS,
  ...CHAT_CALLS,
  ...OPERATOR_CALLS,
  ...ERASURE_CALLS,
}).flatMap(([name, [weight, make]]) => Array.from({ length: weight }, () => ({ name, make })));

/** The next call of a sequence. */
export function nextCall(dice: Dice, cast: Cast, seed: number): Call {
  const { name, make } = dice.pick(BY_WEIGHT);
  return { name, ...make(dice, cast, seed) };
}
