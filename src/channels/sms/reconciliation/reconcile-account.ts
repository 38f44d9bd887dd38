import type { Clock } from '../../../runtime/clock.ts';
import type { Spool } from '../../../spool/spool.ts';
import { isE164, parseAddress } from '../address.ts';
import {
  type ListedAccount,
  type ListedMessage,
  type MessageLists,
  sentAt,
  type Span,
} from '../providers/twilio/message-lists.ts';
import { credentialsOf, TwilioFailed } from '../providers/twilio/transport.ts';
import type { ShopDirectory, SmsShop } from '../shop.ts';
import {
  type AcceptParts,
  acceptMissing,
  type ForShop,
  type SentMessage,
} from './accept-missing.ts';

const HOUR_MS = 3_600_000;
/**
 * Every run looks so far behind the last one: messages that Twilio listed late, and clocks that
 * differ. It is also all that a first run looks back. What came before it was somebody else's to
 * answer: a new installation must not answer a number's past a second time.
 */
export const OVERLAP_MS = HOUR_MS;
/** Far less than entries are kept: an older message could be one that was delivered and swept. */
const LONGEST_MS = 30 * 24 * HOUR_MS;
const SPAN_MS = 6 * HOUR_MS;
/** Twilio gives a webhook 15 s with all its retries: until then the message may be on its way. */
const IN_FLIGHT_MS = 20_000;

/** One Twilio account, whichever shops are on it. */
export interface ReconciledAccount extends ListedAccount {
  /**
   * The values of To to list by. Undefined lists the whole account: a messaging service's messages
   * cannot be filtered in the list.
   */
  readonly addresses: readonly string[] | undefined;
}

/** The accounts that can be asked: those with a credential. An API key of any shop is preferred. */
export function accountsOf(shops: readonly SmsShop[]): readonly ReconciledAccount[] {
  const bySid = new Map<string, SmsShop[]>();
  for (const shop of shops) {
    const { accountSid } = shop.twilio;
    bySid.set(accountSid, [...(bySid.get(accountSid) ?? []), shop]);
  }
  return [...bySid].flatMap(([accountSid, ofAccount]) => {
    const keyed = ofAccount.find(({ twilio }) => twilio.apiKeySecret !== undefined);
    const twilio = (keyed ?? ofAccount[0])?.twilio;
    const [credential] = twilio ? credentialsOf(twilio) : [];
    if (credential === undefined) return [];
    const { apiBaseUrl } = twilio ?? {};
    return [{ accountSid, credential, apiBaseUrl, addresses: addressesOf(ofAccount) }];
  });
}

function addressesOf(shops: readonly SmsShop[]): string[] | undefined {
  if (shops.some(({ messagingServiceSids = [] }) => messagingServiceSids.length > 0)) {
    return undefined;
  }
  const addresses = shops.flatMap(({ numbers }) =>
    numbers.flatMap((number) => {
      const { transport, address } = parseAddress(number);
      if (isE164(address)) return [address, `whatsapp:${address}`, `rcs:${address}`];
      return transport === 'sms' ? [address] : [number];
    }),
  );
  return [...new Set(addresses)];
}

export interface ReconcileParts extends AcceptParts {
  readonly spool: Pick<Spool, 'knownKeys' | 'mark' | 'setMark'>;
  readonly directory: ShopDirectory;
  readonly clock: Clock;
  /** Pages of one list, a thousand messages each; a span with more is listed in halves. */
  readonly maxPages: number;
  /** When the webhook's door opened: what was sent before cannot be on its way to it. */
  readonly openedAt: number;
}

/**
 * One run over an account: lists what was sent since the last run that succeeded, less an overlap,
 * and accepts messages that are not in the spool. The mark is the time until which none is missing; it moves with
 * every span, so that a run that ends in the middle is not begun again from its start.
 * @returns how many messages were missing
 * @throws {TwilioFailed} {SpoolFull} {SpoolUnavailable}
 */
export async function reconcileAccount(
  account: ReconciledAccount,
  lists: MessageLists,
  parts: ReconcileParts,
): Promise<number> {
  const { spool, clock } = parts;
  const startedAt = clock();
  const name = `sms ${account.accountSid} reconciled until`;
  const since = (await markOrFirst(name, startedAt, spool)) - OVERLAP_MS;
  if (since < startedAt - LONGEST_MS) tellGap(since, startedAt, parts);
  const from = Math.max(since, startedAt - LONGEST_MS);

  let found = 0;
  const spans = [...spansSince(from, startedAt, SPAN_MS)];
  for (let span = spans.shift(); span !== undefined; span = spans.shift()) {
    const messages = await messagesFor(account, lists, span, parts);
    if (messages === undefined) {
      const parted = halves(span, startedAt);
      if (parted === undefined) throw new TwilioFailed('never', 'too-many-messages');
      spans.unshift(...parted);
      continue;
    }
    found += await acceptMissing(messages, lists, parts);
    const until = Math.min(span.to ?? startedAt, startedAt - Math.max(lists.clockAheadMs, 0));
    await spool.setMark(name, until);
  }
  return found;
}

/** The first run's own time is kept at once, so that it still is the first after it has failed. */
async function markOrFirst(
  name: string,
  now: number,
  spool: ReconcileParts['spool'],
): Promise<number> {
  const mark = await spool.mark(name);
  if (mark === undefined) await spool.setMark(name, now);
  // A clock that was ahead and has been set right must not leave a gap.
  return Math.min(mark ?? now, now);
}

async function messagesFor(
  { accountSid, addresses }: ReconciledAccount,
  lists: MessageLists,
  span: Span,
  { directory, clock, openedAt, maxPages }: ReconcileParts,
): Promise<readonly ForShop[] | undefined> {
  const shopOf = ({ to, messagingServiceSid }: ListedMessage) =>
    directory.find(accountSid, to ?? '', messagingServiceSid ?? undefined);
  const now = clock();
  // The webhook's own form has more (ProfileName, a location), so it goes first. The next run
  // looks again.
  const mayBeOnItsWay = (at: number) => at > openedAt && at > now - IN_FLIGHT_MS;
  // By the second, and also when a filter by day has listed more.
  const earliest = Math.floor(span.from / 1000) * 1000;
  const messages = await messagesOf(lists, addresses, span, maxPages, (message, at) => {
    if (message.accountSid !== accountSid || at < earliest || mayBeOnItsWay(at)) return false;
    return shopOf(message) !== undefined;
  });
  return messages?.flatMap((sent) => {
    const shop = shopOf(sent.message);
    return shop === undefined ? [] : [{ ...sent, shop }];
  });
}

function tellGap(since: number, now: number, { metrics, logger }: ReconcileParts): void {
  metrics.alarms.inc({ alarm: 'sms_reconciliation_gap' });
  logger.error('sms.reconciliation-gap', { days: Math.floor((now - since) / (24 * HOUR_MS)) });
}

/**
 * The inbound messages of a span that `keep` wants, in the order of DateSent, each once.
 * Undefined when there are more than can be listed in one go.
 * @param maxPages requests for one list
 * @param addresses the values of To to list by; undefined for all
 * @throws {TwilioFailed}
 */
async function messagesOf(
  lists: MessageLists,
  addresses: readonly string[] | undefined,
  span: Span,
  maxPages: number,
  keep: (message: ListedMessage, sentAt: number) => boolean,
): Promise<readonly SentMessage[] | undefined> {
  const found = new Map<string, SentMessage>();
  for (const to of addresses ?? [undefined]) {
    const listed: SentMessage[] = [];
    let pages = 0;
    for await (const page of lists.pages(to, span)) {
      pages += 1;
      if (pages > maxPages) return undefined;
      for (const message of page) {
        // Twilio dates every message; one without a date is better early than lost.
        const at = sentAt(message) ?? span.from;
        if (hasArrived(message) && keep(message, at)) listed.push({ message, sentAt: at });
      }
    }
    for (const sent of oldestFirst(listed)) found.set(sent.message.sid, sent);
  }
  return [...found.values()].sort((one, other) => one.sentAt - other.sentAt);
}

/** One that is still `receiving` is listed again as `received`. */
const hasArrived = ({ direction, status }: ListedMessage): boolean =>
  direction === 'inbound' && status !== 'receiving';

/**
 * A list comes newest first, and its dates have whole seconds: of two texts in one second only
 * their places tell which was first. The dates tell which way the list goes.
 */
function oldestFirst(listed: readonly SentMessage[]): readonly SentMessage[] {
  const [first] = listed;
  const last = listed.at(-1);
  if (first === undefined || last === undefined) return listed;
  return first.sentAt < last.sentAt ? listed : listed.toReversed();
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
