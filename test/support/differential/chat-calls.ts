import { Buffer } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { asBlobName, asEntryId, asVisitorId, type VisitorId } from '../../../src/domain/ids.ts';
import type { MarkedState } from '../../../src/spool/chat-store.ts';
import type { Dice } from '../dice.ts';
import type { Call, Cast, Make } from './calls.ts';

const VISITORS = 5;
const SUBJECTS = ['ada', 'bea'];
const MESSAGES = 6;
const REPLIES = 4;
const UPLOADS = 4;

const visitorId = (seed: number, n: number): VisitorId =>
  asVisitorId(`${String(seed).padStart(16, '0')}${String(n).padStart(16, '0')}`);

const some = (dice: Dice, { shops }: Cast, seed: number) => ({
  shopId: dice.pick(shops),
  id: visitorId(seed, dice.below(VISITORS)),
});

/** Everything that is stored of a sequence's visitors. */
export const visitorsOf = (seed: number, { shops }: Cast): readonly Call[] =>
  shops.flatMap((shopId) =>
    Array.from({ length: VISITORS }, (_, n) => visitorId(seed, n)).map((id) => ({
      name: 'visitor',
      args: id,
      make: async ({ chat }) => ({
        visitor: await chat.visitor(shopId, id),
        lines: await chat.linesAfter(shopId, id, 0, 1000),
        uploads: await chat.countUnusedUploads(shopId, id),
      }),
    })),
  );

/** Ids of uploads are unique in a store. */
const upload = (seed: number, n: number): string => `${seed}/${n}`;

/** Calls of the chat, with how often each is made beside the others. */
export const CHAT_CALLS: Readonly<Record<string, readonly [weight: number, make: Make]>> = {
  createVisitor: [
    6,
    (dice, cast, seed) => {
      const visitor = {
        ...some(dice, cast, seed),
        ...(dice.chance(30) && { name: 'Ann', email: 'ann@x.example' }),
        createdAt: cast.startedAt,
      };
      return {
        args: visitor,
        make: async ({ chat }) =>
          (await chat.visitor(visitor.shopId, visitor.id)) ?? (await chat.createVisitor(visitor)),
      };
    },
  ],
  updateVisitor: [
    2,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const change = {
        ...(dice.chance(50) && { name: `name ${dice.below(3)}` }),
        ...(dice.chance(30) && { email: `${dice.below(3)}@x.example` }),
        ...(dice.chance(50) && { seenSeq: dice.below(5) }),
      };
      return {
        args: { shopId, id, change },
        make: ({ chat }) => chat.updateVisitor(shopId, id, change),
      };
    },
  ],
  identifyVisitor: [
    4,
    (dice, cast, seed) => {
      const { shopId, id: guestId } = some(dice, cast, seed);
      const identity = {
        ...{ shopId, subject: dice.pick(SUBJECTS), at: cast.startedAt },
        // Chosen at random: no two calls have the same.
        newId: visitorId(seed, VISITORS + dice.below(1e15)),
        ...(dice.chance(70) && { guestId }),
        ...(dice.chance(50) && { name: 'Ada' }),
      };
      return { args: identity, make: ({ chat }) => chat.identifyVisitor(identity) };
    },
  ],
  logOut: [
    1,
    of(
      (shopId, id) =>
        ({ chat }) =>
          chat.logOut(shopId, id),
    ),
  ],
  startConversation: [
    4,
    of(
      (shopId, id) =>
        ({ chat }) =>
          chat.startConversation(shopId, id),
    ),
  ],
  visitor: [
    3,
    of(
      (shopId, id) =>
        ({ chat }) =>
          chat.visitor(shopId, id),
    ),
  ],
  visitorsAmong: [
    2,
    (dice, cast, seed) => {
      const { shopId } = some(dice, cast, seed);
      const ids = [0, 1, 2].map((n) => visitorId(seed, n));
      return {
        args: { shopId, ids },
        make: async ({ chat }) =>
          (await chat.visitorsAmong(shopId, ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      };
    },
  ],
  conversationsOf: [
    2,
    of(
      (shopId, id) =>
        async ({ chat }) =>
          (await chat.conversationsOf(shopId, [id]))
            .map(({ visitorId: whose, conversationId }) => `${whose} ${conversationId}`)
            .sort(),
    ),
  ],
  acceptMessage: [
    14,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const messageId = `m${dice.below(MESSAGES)}`;
      const n = cast.entries.length;
      const entry = {
        id: asEntryId(
          `${String(n).padStart(8, '0')}-0000-4000-8000-1${String(seed).padStart(11, '0')}`,
        ),
        ...({ kind: 'message', shopId, channel: 'web_chat' } as const),
        ...{ dedupKey: `${id}:${messageId}`, remoteId: `${id}:${messageId}` },
        ...{ receivedAt: cast.startedAt + n, meta: { n } },
        raw: { kind: 'inline', bytes: Buffer.from('said'), checksum: n } as const,
      };
      const uploadIds = dice.chance(30) ? [upload(seed, dice.below(UPLOADS))] : [];
      const message = { visitorId: id, messageId, text: `text ${dice.below(3)}`, uploadIds };
      // Numbers are given once, also for one that is refused.
      cast.entries.push({ ...entry, lane: '' });
      return {
        args: { entry, message },
        make: ({ chat }) => chat.acceptMessage(entry, message),
      };
    },
  ],
  storeReply: [
    8,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const reply = {
        ...{ shopId, visitorId: id, platformMessageId: `reply ${dice.below(REPLIES)}` },
        ...({ text: `answer ${dice.below(3)}`, format: 'TEXT', at: cast.startedAt } as const),
        ...(dice.chance(70) && { updatedAt: cast.startedAt + dice.below(5) }),
        ...(dice.chance(30) && { author: { agentId: 'agent' } }),
      };
      return { args: reply, make: ({ chat }) => chat.storeReply(reply) };
    },
  ],
  markMessage: [
    6,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const state = dice.pick<MarkedState>(['failed', 'delivered', 'seen']);
      const messageId = `m${dice.below(MESSAGES)}`;
      return {
        args: { shopId, id, messageId, state },
        make: ({ chat }) => chat.markMessage(shopId, id, messageId, state),
      };
    },
  ],
  linesAfter: [
    4,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const [after, limit, bytes] = [dice.below(4), 1 + dice.below(9), dice.pick([10_000, 1, 60])];
      return {
        args: { shopId, id, after, limit, bytes },
        make: async ({ chat }) => [
          await chat.linesAfter(shopId, id, after, limit, bytes),
          await chat.linesBefore(shopId, id, after + 3, limit, bytes),
          await chat.linesRevised(shopId, id, after, limit, bytes),
        ],
      };
    },
  ],
  addUpload: [
    5,
    (dice, cast, seed) => {
      const { shopId, id: owner } = some(dice, cast, seed);
      const n = dice.below(UPLOADS);
      const added = {
        ...{ id: upload(seed, n), shopId, visitorId: owner, name: 'a.png', type: 'image/png' },
        ...{ size: 3, blob: asBlobName(`${seed}-${n}`), checksum: n, at: cast.startedAt },
      };
      return {
        args: added,
        // An id, and the name of a blob, is used once, and by a visitor who is stored.
        make: async ({ chat, spool, uploads }) => {
          const visitor = await chat.visitor(shopId, owner);
          if (visitor === undefined || uploads.has(added.id)) return 'not added';
          uploads.add(added.id);
          const writer = spool.blobs.writer({ inlineMaxBytes: 0, name: added.blob });
          await pipeline([Buffer.from('png')], writer);
          await writer.commit();
          return chat.addUpload(added, 3);
        },
      };
    },
  ],
  unusedUploads: [
    3,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const ids = [0, 1, 2, 3].map((n) => upload(seed, n));
      return {
        args: { shopId, id },
        make: async ({ chat }) => [
          await chat.unusedUploads(shopId, id, ids),
          await chat.countUnusedUploads(shopId, id),
          await chat.upload(shopId, id, ids[0] ?? ''),
        ],
      };
    },
  ],
  removeUpload: [
    1,
    (dice, cast, seed) => {
      const { shopId, id } = some(dice, cast, seed);
      const which = upload(seed, dice.below(UPLOADS));
      return {
        args: { shopId, id, which },
        make: ({ chat }) => chat.removeUpload(shopId, id, which),
      };
    },
  ],
};

type Asked = (shopId: Cast['shops'][number], id: VisitorId) => ReturnType<Make>['make'];

function of(ask: Asked): Make {
  return (dice, cast, seed) => {
    const { shopId, id } = some(dice, cast, seed);
    return { args: { shopId, id }, make: ask(shopId, id) };
  };
}
