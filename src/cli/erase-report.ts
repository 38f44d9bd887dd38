import { counted } from '../runtime/amounts.ts';
import type { ShopId } from '../domain/ids.ts';
import { type Erased, type EraseFound, isNothing, isNothingOf } from './person-eraser.ts';
import { printable } from './terminal.ts';

export type ShopName = (id: ShopId) => string;

/** What was found for one shop, as counts. */
interface ShopCounts {
  entries: Record<string, number>;
  inDelivery: number;
  visitors: number;
  chatLines: number;
  uploads: number;
  conversations: number;
  optOuts: number;
}

/** Whether there is anything to erase: data of the person, or the rest of an interrupted run. */
export const hasFound = ({ traces, platform, isUnfinished, names }: EraseFound): boolean =>
  isUnfinished ||
  names.length > 0 ||
  !isNothing(traces) ||
  (platform !== undefined && !isNothingOf(platform));

/** For programs. The address itself is not repeated. */
export function eraseJson(
  found: EraseFound,
  erased: Erased | undefined,
  shopName: ShopName,
): Record<string, unknown> {
  const { others, ...own } = foundJson(found, shopName);
  return {
    erased: erased !== undefined,
    ...own,
    ...(erased && {
      files: erased.files,
      inFlight: erased.inFlight.map(({ id }) => id),
      databases: erased.bytes,
    }),
    others,
  };
}

/** What is stored about the person, as counts, and which messages of others mention them. */
export function foundJson(found: EraseFound, shopName: ShopName) {
  return {
    found: {
      shops: Object.fromEntries(byShop(found, shopName)),
      notes: found.traces.notes.length,
      platform: platformCounts(found),
    },
    others: {
      entries: found.mentions.map(({ id, shopId, channel, where }) => ({
        ...{ id, shop: shopName(shopId), channel, where },
      })),
      chatLines: found.lines.map(({ shopId, visitorId, seq }) => ({
        ...{ shop: shopName(shopId), visitor: visitorId, seq },
      })),
      platformMessages: found.platform?.mentions.map(({ id, where }) => ({ id, where })) ?? [],
    },
  };
}

/** For people: what would be or will be erased. */
export function foundText(found: EraseFound, shopName: ShopName): string {
  const notes = found.traces.notes.length;
  const lines = [
    ...ownLines(found, shopName),
    ...(notes > 0 ? [`notes on other people's messages, to be redacted: ${notes}`] : []),
    ...(found.traces.optOuts.length > 0 ? ['opt-outs remain as keyed hashes'] : []),
    ...(found.isUnfinished ? ['unfinished work of an earlier run'] : []),
  ];
  return lines.length === 0 ? 'Nothing is stored about this person.\n' : `${lines.join('\n')}\n`;
}

/** For people: the person's own data, a line for each shop and one for the embedded platform. */
export function ownLines(found: EraseFound, shopName: ShopName): string[] {
  const lines = [...byShop(found, shopName)].map(([shop, counts]) => `${shop}: ${inWords(counts)}`);
  const platform = platformCounts(found);
  const there = platform === undefined ? '' : listed(Object.entries(platform));
  return [
    ...lines,
    ...(found.names.length > 0 ? [`names on WhatsApp: ${found.names.length}`] : []),
    ...(there === '' ? [] : [`embedded platform: ${there}`]),
  ];
}

/** Other people's messages, which are kept. */
export function othersText({ mentions, lines, platform }: EraseFound, shopName: ShopName): string {
  const messages = platform?.mentions ?? [];
  if (mentions.length + lines.length + messages.length === 0) return '';
  return [
    "Other people's messages that mention this person (kept):",
    ...mentions.map(
      ({ id, shopId, channel, where }) =>
        `  entry ${printable(id)}  ${shopName(shopId)}  ${channel}  ${where.join(', ')}`,
    ),
    ...lines.map(
      ({ shopId, visitorId, seq }) =>
        `  chat line ${seq} of visitor ${printable(visitorId)}  ${shopName(shopId)}`,
    ),
    ...messages.map(({ id, where }) => `  embedded platform's message ${id}  ${where.join(', ')}`),
    '',
  ].join('\n');
}

/** One line without names, for the audit log and the final output. */
export function summary(found: EraseFound): string {
  const { traces, platform, mentions, lines } = found;
  const others = mentions.length + lines.length + (platform?.mentions.length ?? 0);
  return [
    `${counted(traces.entries.length, 'entry', 'entries')}, ${counted(traces.visitors.length, 'visitor')}`,
    `${platform?.messages.length ?? 0} platform messages`,
    `${others} of others mention the person`,
  ].join('; ');
}

function byShop({ traces }: EraseFound, shopName: ShopName): Map<string, ShopCounts> {
  const shops = new Map<string, ShopCounts>();
  const of = (id: ShopId): ShopCounts => {
    const name = shopName(id);
    const counts = shops.get(name) ?? none();
    shops.set(name, counts);
    return counts;
  };
  for (const { shopId, channel, state } of traces.entries) {
    const counts = of(shopId);
    counts.entries[channel] = (counts.entries[channel] ?? 0) + 1;
    if (state === 'delivering') counts.inDelivery += 1;
  }
  for (const { shopId, lines, uploads } of traces.visitors) {
    const counts = of(shopId);
    counts.visitors += 1;
    counts.chatLines += lines;
    counts.uploads += uploads.length;
  }
  for (const { shopId } of traces.conversations) of(shopId).conversations += 1;
  for (const { shopId } of traces.optOuts) of(shopId).optOuts += 1;
  return shops;
}

const none = (): ShopCounts => ({
  entries: {},
  ...{ inDelivery: 0, visitors: 0, chatLines: 0, uploads: 0, conversations: 0, optOuts: 0 },
});

function inWords(counts: ShopCounts): string {
  return listed([
    ...Object.entries(counts.entries).map(([channel, n]) => [`${channel} entries`, n] as const),
    ['of these being delivered now', counts.inDelivery],
    ['chat visitors', counts.visitors],
    ['chat lines', counts.chatLines],
    ['uploads', counts.uploads],
    ['remembered conversations', counts.conversations],
    ['opt-outs', counts.optOuts],
  ]);
}

function platformCounts({ platform }: EraseFound): Record<string, number> | undefined {
  if (platform === undefined) return undefined;
  const { contacts, messages, conversations, events, leftAddresses, media, emails, texts } =
    platform;
  return {
    contacts: contacts.length,
    messages: messages.length,
    conversations: conversations.length,
    events: events.length,
    'addresses left in the chat': leftAddresses.length,
    files: media.length,
    'emails in the outbox': emails.length,
    'texts in sms.log': texts.length,
  };
}

const listed = (counts: readonly (readonly [string, number])[]): string =>
  counts.flatMap(([what, count]) => (count > 0 ? [`${what} ${count}`] : [])).join(', ');
