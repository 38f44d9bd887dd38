import {
  type AddressMatcher,
  matchKey,
  parseAddressList,
} from '../../../../domain/email-addresses.ts';
import { type HeaderBlock, parseHeaderBlock } from '../../header-block.ts';
import { messageIds } from '../head/header-values.ts';
import { isDelaySubject } from '../head/subjects.ts';
import { type Notice, noticeText, readNotice, recipientsIn, saysDelayed } from './notice-text.ts';
import { sesRecipients } from './ses-notification.ts';
import {
  type FailedRecipient,
  isStatusPart,
  readDeliveryStatus,
  type ReportPart,
  returnedHead,
  statusText,
} from './report-parts.ts';

export interface BounceReport {
  readonly failed: readonly FailedRecipient[];
  /** The mail is only late or was passed on: nobody has failed. */
  readonly delayed: boolean;
  /** The Message-ID of the returned mail, in angle brackets. */
  readonly originalId?: string;
}

interface Bounce {
  readonly head: HeaderBlock;
  readonly subject: string | undefined;
  readonly parts: readonly ReportPart[];
}

const MAX_RECIPIENTS = 20;
const MAX_STATUS_BYTES = 64 * 1024;
const MESSAGE_ID_LINE = /^[ \t]*message-id: *(<[^<>\s]+>)/im;

/**
 * Who was not reached according to a bounce, from the most reliable source that names anybody: the
 * delivery status (RFC 3464 §2.3), X-Failed-Recipients (Exim, Google), the text, and last the only
 * recipient of the returned message. A delay is not a failure. Never one of our own addresses.
 */
export function readBounceReport(bounce: Bounce, own: AddressMatcher): BounceReport {
  const text = noticeText(bounce.parts);
  const notice = readNotice(text);
  const returned =
    returnedHead(bounce.parts) ?? parseHeaderBlock(Buffer.from(notice.returned.join('\n').trim()));
  const found = recipients(bounce, { text, notice, returned, own });
  const originalId = originalIdOf(bounce.head, returned, notice);
  return {
    failed: found === 'delayed' ? [] : distinct(found),
    delayed: found === 'delayed',
    ...(originalId !== undefined && { originalId }),
  };
}

interface Context {
  readonly text: string;
  readonly notice: Notice;
  /** The header block of the returned message; empty if there is none. */
  readonly returned: HeaderBlock;
  readonly own: AddressMatcher;
}

function recipients(
  { head, subject = '', parts }: Bounce,
  { text, notice, returned, own }: Context,
): readonly FailedRecipient[] | 'delayed' {
  const others = (failed: readonly FailedRecipient[]) =>
    failed.filter(({ address }) => !own.has(address));
  const texts = parts
    .filter(isStatusPart)
    .map(({ start }) => statusText(start.subarray(0, MAX_STATUS_BYTES)));
  const status = readDeliveryStatus(texts.join('\n\n'));
  const failed = others(status.failed);
  if (failed.length > 0) return failed;
  if (status.others > 0 || isDelaySubject(subject)) return 'delayed';
  const ofSes = sesRecipients(text);
  if (ofSes.length > 0) return others(ofSes);
  const from = new Set(addressesIn(head, 'from'));
  const told = recipientsIn(notice, (address) => !own.has(address) && !from.has(matchKey(address)));
  const named = others(head.all('x-failed-recipients').flatMap((value) => parseAddressList(value)));
  if (named.length > 0) return withReasons(named, told);
  if (saysDelayed(notice)) return 'delayed';
  // A report that another system has pasted or quoted as text.
  const pasted = [...notice.lines, ...notice.returned].map((line) =>
    line.replace(/^(?:> ?){1,9}/, ''),
  );
  const inText = readDeliveryStatus(pasted.join('\n'));
  if (others(inText.failed).length > 0) return others(inText.failed);
  if (told.length > 0) return told;
  const nested = parts.filter(({ contentType }) => contentType === 'message/rfc822');
  const inside = readDeliveryStatus(
    nested.map(({ start }) => statusText(start.subarray(0, MAX_STATUS_BYTES))).join('\n\n'),
  );
  if (others(inside.failed).length > 0) return others(inside.failed);
  return onlyRecipient(returned, own);
}

/** The reasons that the text gives for these recipients. */
function withReasons(
  named: readonly FailedRecipient[],
  told: readonly FailedRecipient[],
): readonly FailedRecipient[] {
  const byKey = new Map(told.map((each) => [matchKey(each.address), each]));
  return named.map(({ address }) => ({ ...byKey.get(matchKey(address)), address }));
}

/** The mail that the gateway's platform sends has one recipient. */
function onlyRecipient(returned: HeaderBlock, own: AddressMatcher): readonly FailedRecipient[] {
  const to = returned.all('to').flatMap((value) => [...parseAddressList(value)]);
  const others = distinct(to.filter(({ address }) => !own.has(address)));
  return others.length === 1 ? others.map(({ address }) => ({ address })) : [];
}

const addressesIn = (head: HeaderBlock, name: string) =>
  head
    .all(name)
    .flatMap((value) => parseAddressList(value).map(({ address }) => matchKey(address)));

/**
 * The id of the returned message, otherwise the one that the notice quotes, otherwise the id that
 * the bounce answers.
 */
function originalIdOf(
  head: HeaderBlock,
  returned: HeaderBlock,
  { lines }: Notice,
): string | undefined {
  const [returnedId] = messageIds(returned.all('message-id'));
  if (returnedId !== undefined) return returnedId;
  const [quoted] = messageIds([MESSAGE_ID_LINE.exec(lines.join('\n'))?.[1] ?? '']);
  const answered = [...head.all('in-reply-to'), ...head.all('references').slice(-1)];
  return quoted ?? messageIds(answered).at(-1);
}

function distinct(failed: readonly FailedRecipient[]): readonly FailedRecipient[] {
  const byKey = new Map<string | undefined, FailedRecipient>();
  for (const each of failed) {
    const key = matchKey(each.address);
    const known = byKey.get(key);
    // A transcript names a recipient several times, the reason once.
    if (known?.diagnostic === undefined) byKey.set(key, { ...known, ...each });
  }
  return [...byKey.values()].slice(0, MAX_RECIPIENTS);
}
