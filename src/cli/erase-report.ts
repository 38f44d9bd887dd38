import { counted } from '../runtime/amounts.ts';
import type { ShopId } from '../domain/ids.ts';
import { type Erased, type EraseFound, hasTraces } from './person-eraser.ts';
import { printable } from './terminal.ts';

type ShopName = (id: ShopId) => string;

const NONE = { inDelivery: 0, visitors: 0, chatLines: 0, uploads: 0, conversations: 0, optOuts: 0 };

/** What was found for one shop, as counts; entries by channel. */
type ShopCounts = typeof NONE & { readonly entries: Record<string, number> };

/** Whether there is anything to erase: data of the person, or the rest of an interrupted run. */
export const hasFound = (found: EraseFound): boolean =>
  found.isUnfinished || found.names.length > 0 || hasTraces(found);

/** Notes on other people's messages are not the person's data, though erasing redacts them. */
export const hasOwnData = ({ traces, platform, names }: EraseFound): boolean =>
  names.length > 0 || hasTraces({ traces: { ...traces, notes: [] }, platform });

/** For programs. The address itself is not repeated. */
export function eraseJson(found: EraseFound, erased: Erased | undefined, shopName: ShopName) {
  const { others, ...own } = foundJson(found, shopName);
  return {
    erased: erased !== undefined,
    ...own,
    ...(erased && { ...erased, inFlight: erased.inFlight.map(({ id }) => id) }),
    others,
  };
}

/** What is stored about the person, as counts, and which messages of others mention them. */
export const foundJson = (found: EraseFound, shopName: ShopName) => ({
  found: {
    shops: Object.fromEntries(byShop(found, shopName)),
    notes: found.traces.notes.length,
    platform: platformCounts(found),
  },
  others: othersOf(found, shopName),
});

/** For people: what would be or will be erased. */
export function foundText(found: EraseFound, shopName: ShopName): string {
  const { notes, optOuts } = found.traces;
  const lines = [
    ...ownLines(found, shopName),
    ...(notes.length > 0
      ? [`notes on other people's messages, to be redacted: ${notes.length}`]
      : []),
    ...(optOuts.length > 0 ? ['opt-outs remain as keyed hashes'] : []),
    ...(found.isUnfinished ? ['unfinished work of an earlier run'] : []),
  ];
  return lines.length === 0 ? 'Nothing is stored about this person.\n' : `${lines.join('\n')}\n`;
}

/** For people: the person's own data, a line for each shop and one for the embedded platform. */
export function ownLines(found: EraseFound, shopName: ShopName): string[] {
  const there = listed(platformCounts(found) ?? {});
  return [
    ...[...byShop(found, shopName)].map(([shop, counts]) => `${shop}: ${inWords(counts)}`),
    ...(found.names.length > 0 ? [`names on WhatsApp: ${found.names.length}`] : []),
    ...(there === '' ? [] : [`embedded platform: ${there}`]),
  ];
}

/** Other people's messages, which are kept. */
export function othersText(found: EraseFound, shopName: ShopName): string {
  const { entries, chatLines, platformMessages } = othersOf(found, shopName);
  const lines = [
    ...entries.map(
      ({ id, shop, channel, where }) =>
        `  entry ${printable(id)}  ${shop}  ${channel}  ${where.join(', ')}`,
    ),
    ...chatLines.map(
      ({ shop, visitor, seq }) => `  chat line ${seq} of visitor ${printable(visitor)}  ${shop}`,
    ),
    ...platformMessages.map(
      ({ id, where }) => `  embedded platform's message ${id}  ${where.join(', ')}`,
    ),
  ];
  if (lines.length === 0) return '';
  return ["Other people's messages that mention this person (kept):", ...lines, ''].join('\n');
}

/** One line without names, for the audit log and the final output. */
export function summary({ traces, platform, mentions, lines }: EraseFound): string {
  const others = mentions.length + lines.length + (platform?.mentions.length ?? 0);
  return [
    `${counted(traces.entries.length, 'entry', 'entries')}, ${counted(traces.visitors.length, 'visitor')}`,
    `${platform?.messages.length ?? 0} platform messages`,
    `${others} of others mention the person`,
  ].join('; ');
}

const othersOf = ({ mentions, lines, platform }: EraseFound, shopName: ShopName) => ({
  entries: mentions.map(({ shopId, id, ...rest }) => ({ id, shop: shopName(shopId), ...rest })),
  chatLines: lines.map(({ shopId, visitorId, seq }) => ({
    shop: shopName(shopId),
    visitor: visitorId,
    seq,
  })),
  platformMessages: platform?.mentions.map(({ id, where }) => ({ id, where })) ?? [],
});

function byShop({ traces }: EraseFound, shopName: ShopName): Map<string, ShopCounts> {
  const shops = new Map<string, ShopCounts>();
  const of = (id: ShopId): ShopCounts => {
    const name = shopName(id);
    const counts = shops.get(name) ?? { entries: {}, ...NONE };
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

const inWords = (counts: ShopCounts): string =>
  listed({
    ...Object.fromEntries(
      Object.entries(counts.entries).map(([channel, n]) => [`${channel} entries`, n]),
    ),
    'of these being delivered now': counts.inDelivery,
    'chat visitors': counts.visitors,
    'chat lines': counts.chatLines,
    uploads: counts.uploads,
    'remembered conversations': counts.conversations,
    'opt-outs': counts.optOuts,
  });

/** The names are fields of the JSON, and words for people. */
const platformCounts = ({ platform }: EraseFound) =>
  platform && {
    contacts: platform.contacts.length,
    messages: platform.messages.length,
    conversations: platform.conversations.length,
    events: platform.events.length,
    'addresses left in the chat': platform.leftAddresses.length,
    files: platform.media.length,
    'emails in the outbox': platform.emails.length,
    'texts in sms.log': platform.texts.length,
  };

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .flatMap(([what, count]) => (count > 0 ? [`${what} ${count}`] : []))
    .join(', ');
