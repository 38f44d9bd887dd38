import type { Clock } from '../../../runtime/clock.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { ShopDirectory } from '../shop.ts';
import { type AcceptParts, acceptMissing, type ForShop } from './accept-missing.ts';
import type { ReconciledAccount } from './accounts.ts';
import { ApiFailed } from '../providers/twilio/api-failed.ts';
import type { ListedMessage } from '../providers/twilio/listed-message.ts';
import { messagesOf } from './span-messages.ts';
import { halves, type Span, spansSince } from './spans.ts';
import type { MessageLists } from '../providers/twilio/message-lists.ts';

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
 * and accepts what is not in the spool. The mark says until when nothing is missing; it moves with
 * every span, so that a run that ends in the middle is not begun again from its start.
 * @returns how many messages were missing
 * @throws {ApiFailed} {SpoolFull} {SpoolUnavailable}
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
      if (parted === undefined) throw new ApiFailed('never', 'too-many-messages');
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
  // The webhook's own form tells more (ProfileName, a location): it goes first. The next run
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
