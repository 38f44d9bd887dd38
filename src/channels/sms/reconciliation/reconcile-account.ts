import type { Clock } from '../../../runtime/clock.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { ListedAccount, MessageLists, ProviderLists, Span } from '../provider.ts';
import { ProviderFailed } from '../providers/requests.ts';
import type { ShopDirectory } from '../shop.ts';
import { type AcceptParts, acceptMissing, type ForShop } from './accept-missing.ts';

const HOUR_MS = 3_600_000;
/**
 * Each run starts this much before the last one, for messages that the provider listed late and for clock
 * differences. A first run goes back no further: earlier messages were answered by a previous
 * system, and a new installation must not answer them again.
 */
export const OVERLAP_MS = HOUR_MS;
/**
 * Much shorter than the retention of entries, because an older message may have been delivered and
 * swept.
 */
const LONGEST_MS = 30 * 24 * HOUR_MS;
const SPAN_MS = 6 * HOUR_MS;
/** An account, with the limits of its provider's lists. */
export interface ReconciledAccount
  extends ListedAccount, Pick<ProviderLists, 'inFlightMs' | 'maxPages'> {}

export interface ReconcileParts extends AcceptParts {
  readonly spool: Pick<Spool, 'knownKeys' | 'mark' | 'setMark'>;
  readonly directory: ShopDirectory;
  readonly clock: Clock;
  /** When the webhook's listener was opened: messages sent earlier cannot be on their way to it. */
  readonly openedAt: number;
}

/**
 * One run for an account: lists the messages sent since the last successful run, with an overlap,
 * and accepts those that are not in the spool. The mark is the time up to which no message is
 * missing; it advances with every span, so an interrupted run is not repeated from its start.
 * @returns the number of missing messages
 * @throws {ProviderFailed} {SpoolFull} {SpoolUnavailable}
 */
export async function reconcileAccount(
  account: ReconciledAccount,
  lists: MessageLists,
  parts: ReconcileParts,
): Promise<number> {
  const { spool, clock } = parts;
  const startedAt = clock();
  const name = `sms ${account.name} reconciled until`;
  const since = (await markOrFirst(name, startedAt, spool)) - OVERLAP_MS;
  if (since < startedAt - LONGEST_MS) reportGap(since, startedAt, parts);
  const from = Math.max(since, startedAt - LONGEST_MS);

  let found = 0;
  const spans = [...spansSince(from, startedAt, SPAN_MS)];
  for (let span = spans.shift(); span !== undefined; span = spans.shift()) {
    const messages = await messagesFor(account, lists, span, parts);
    if (messages === undefined) {
      const parted = halves(span, startedAt);
      if (parted === undefined) throw new ProviderFailed('never', 'too_many_messages');
      spans.unshift(...parted);
      continue;
    }
    found += await acceptMissing(messages, lists, parts);
    const until = Math.min(span.to ?? startedAt, startedAt - Math.max(lists.clockAheadMs, 0));
    await spool.setMark(name, until);
  }
  return found;
}

/** The time of the first run is stored at once, so that it is kept even if the run fails. */
async function markOrFirst(
  name: string,
  now: number,
  spool: ReconcileParts['spool'],
): Promise<number> {
  const mark = await spool.mark(name);
  if (mark === undefined) await spool.setMark(name, now);
  // A clock that was ahead and has been corrected must not leave a gap.
  return Math.min(mark ?? now, now);
}

/**
 * The inbound messages of a span that belong to a shop, in the order of DateSent, without
 * duplicates. Undefined if there are more than can be listed at once.
 * @throws {ProviderFailed}
 */
async function messagesFor(
  { id, addresses, inFlightMs, maxPages }: ReconciledAccount,
  lists: MessageLists,
  span: Span,
  { directory, clock, openedAt }: ReconcileParts,
): Promise<readonly ForShop[] | undefined> {
  const now = clock();
  // The webhook may have more data than the list (a name, a location), so it is preferred. The next
  // run checks again.
  const mayBeOnItsWay = (at: number) => at > openedAt && at > now - inFlightMs;
  // Compared to the second, because a filter by day may have listed more.
  const earliest = Math.floor(span.from / 1000) * 1000;
  const found = new Map<string, ForShop>();
  for (const address of addresses ?? [undefined]) {
    const listed: ForShop[] = [];
    let pages = 0;
    for await (const page of lists.pages(address, span)) {
      pages += 1;
      if (pages > maxPages) return undefined;
      for (const message of page) {
        // A message without a date is sorted first rather than lost.
        const at = message.sentAt ?? span.from;
        if (message.account !== id || at < earliest || mayBeOnItsWay(at)) continue;
        const shop = directory.find(id, message.to, message.service);
        if (shop !== undefined) listed.push({ message, sentAt: at, shop });
      }
    }
    for (const each of oldestFirst(listed)) found.set(each.message.id, each);
  }
  return [...found.values()].sort((one, other) => one.sentAt - other.sentAt);
}

function reportGap(since: number, now: number, { metrics, logger }: ReconcileParts): void {
  metrics.alarms.inc({ alarm: 'sms_reconciliation_gap' });
  logger.error('sms.reconciliation_gap', { days: Math.floor((now - since) / (24 * HOUR_MS)) });
}

/**
 * Orders a list, which is newest first and has dates in whole seconds. For two texts within a
 * second, only their position shows which was first; the dates show the direction of the list.
 */
function oldestFirst(listed: readonly ForShop[]): readonly ForShop[] {
  const [first] = listed;
  const last = listed.at(-1);
  if (first === undefined || last === undefined) return listed;
  return first.sentAt < last.sentAt ? listed : listed.toReversed();
}

/** The time from `from` until now, in parts of limited length, oldest first. */
export function spansSince(from: number, now: number, lengthMs: number): readonly Span[] {
  const spans: Span[] = [];
  let start = from;
  for (; start + lengthMs < now; start += lengthMs)
    spans.push({ from: start, to: start + lengthMs });
  return [...spans, { from: start }];
}

/** The two halves of a span; undefined if it is too short, because the API has whole seconds. */
export function halves({ from, to }: Span, now: number): readonly [Span, Span] | undefined {
  const middle = Math.floor((from + (to ?? now)) / 2000) * 1000;
  if (middle - from < 1000) return undefined;
  return [
    { from, to: middle },
    { from: middle, ...(to !== undefined && { to }) },
  ];
}
