import type { CreateEventRequest } from '../../../../platform-api/schemas.ts';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import { messageIds, platformAddress } from './header-values.ts';
import {
  type AddressMatcher,
  canonicalAddress,
  matchKey,
  parseAddressList,
} from '../../../../domain/email-addresses.ts';
import { type HeaderBlock, parseHeaderBlock } from '../../header-block.ts';

const MAX_DIAGNOSTIC = 300;
const MAX_SUBJECT = 200;

/**
 * A bounce as events on the timelines of the recipients that our mail did not reach. Delivery
 * submits an event only for a contact that the platform already has, since anyone can forge a
 * bounce.
 * @param at milliseconds since the epoch
 */
export function bounceEvents(
  { failed, originalId }: BounceReport,
  own: AddressMatcher,
  at: number,
): readonly CreateEventRequest[] {
  return failed.flatMap((recipient) => {
    const email = platformAddress(recipient.address);
    if (email === undefined || own.has(email)) return [];
    const lines = [reasonOf(recipient), originalId && `Message-ID: ${originalId}`].filter(Boolean);
    return [
      {
        name: 'Email not delivered',
        ...(lines.length > 0 && { description: lines.join('\n') }),
        event_time: new Date(at).toISOString(),
        contact: { email },
      },
    ];
  });
}

function reasonOf({ status, diagnostic }: FailedRecipient): string {
  return [status, diagnostic && cleanLine(diagnostic, MAX_DIAGNOSTIC)].filter(Boolean).join(' ');
}

/** A suppressed automatic reply as an event on its sender's timeline. */
export function autoReplyEvents(
  contact: { readonly email?: string },
  subject: string | undefined,
  at: number,
): readonly CreateEventRequest[] {
  const { email } = contact;
  if (email === undefined) return [];
  return [
    {
      name: 'Automatic reply',
      ...(subject !== undefined && { description: cleanLine(subject, MAX_SUBJECT) }),
      event_time: new Date(at).toISOString(),
      contact: { email },
    },
  ];
}

/** One recipient that was not reached according to a bounce. */
interface FailedRecipient {
  readonly address: string;
  /** RFC 3463: `5.1.1`. */
  readonly status?: string;
  /** The other server's error text. */
  readonly diagnostic?: string;
}

interface BounceReport {
  readonly failed: readonly FailedRecipient[];
  /** The Message-ID of the returned mail, in angle brackets. */
  readonly originalId?: string;
}

/** A part of the bounce: its type in lower case, and the start of its decoded bytes. */
interface BouncePart {
  readonly contentType: string;
  readonly start: Uint8Array;
}

const STATUS = new Set(['message/delivery-status', 'message/global-delivery-status']);
const ENCLOSED = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
]);
const MAX_READ_BYTES = 64 * 1024;
const MAX_GROUPS = 200;
const MAX_RECIPIENTS = 20;
/** D. J. Bernstein's QSBMF: one paragraph per recipient, which begins with its address. */
const QSBMF_RECIPIENT = /^<([^<>\s]{3,320})>:/gm;

/**
 * The recipients that were not reached. From the delivery status (RFC 3464 §2.3), the address that
 * we wrote to is preferred to the one it was forwarded to; otherwise X-Failed-Recipients (Exim) is
 * used, or the text in qmail's form. A delay is not a failure.
 */
export function readBounceReport(head: HeaderBlock, parts: readonly BouncePart[]): BounceReport {
  const originalId = originalIdOf(head, parts);
  return {
    failed: distinct(failedRecipients(head, parts)),
    ...(originalId !== undefined && { originalId }),
  };
}

function failedRecipients(
  head: HeaderBlock,
  parts: readonly BouncePart[],
): readonly FailedRecipient[] {
  const reports = parts.filter(({ contentType }) => STATUS.has(contentType));
  if (reports.length > 0) return reports.flatMap(({ start }) => readStatus(start));
  const named = head.all('x-failed-recipients').flatMap((value) => [...parseAddressList(value)]);
  if (named.length > 0) return named;
  const text = parts.find(({ contentType }) => contentType === 'text/plain');
  return text === undefined ? [] : readQsbmf(text.start);
}

/** Groups of fields separated by empty lines: one for the message, then one per recipient. */
function readStatus(start: Uint8Array): readonly FailedRecipient[] {
  const failed: FailedRecipient[] = [];
  let rest = start.subarray(0, MAX_READ_BYTES);
  for (let groups = 0; rest.length > 0 && groups < MAX_GROUPS; groups += 1) {
    const group = parseHeaderBlock(rest);
    if (group.byteLength === 0) break;
    rest = rest.subarray(group.byteLength);
    const address =
      recipientOf(group, 'original-recipient') ?? recipientOf(group, 'final-recipient');
    if (address === undefined || !/^(?:failed\b|$)/i.test(group.first('action') ?? '')) continue;
    const status = /^\d\.\d{1,3}\.\d{1,3}/.exec(group.first('status') ?? '')?.[0];
    const diagnostic = group.first('diagnostic-code')?.slice(0, 2000);
    failed.push({
      address,
      ...(status !== undefined && { status }),
      ...(diagnostic !== undefined && { diagnostic }),
    });
  }
  return failed;
}

/**
 * RFC 3464 §2.3.2: `rfc822; ann@x.example`. Some systems write the address alone, or in brackets.
 */
function recipientOf(group: HeaderBlock, name: string): string | undefined {
  const value = group.first(name)?.slice(0, 1000);
  const address = value?.slice(value.indexOf(';') + 1).trim();
  return address === undefined ? undefined : canonicalAddress(address.replace(/^<|>$/g, ''));
}

function readQsbmf(start: Uint8Array): readonly FailedRecipient[] {
  const text = Buffer.from(start.subarray(0, MAX_READ_BYTES)).toString('latin1');
  return [...text.matchAll(QSBMF_RECIPIENT)].flatMap(([, found = '']) => {
    const address = canonicalAddress(found);
    return address === undefined ? [] : [{ address }];
  });
}

/** The id of the enclosed message, otherwise the id that the bounce answers. */
function originalIdOf(head: HeaderBlock, parts: readonly BouncePart[]): string | undefined {
  const enclosed = parts
    .filter(({ contentType }) => ENCLOSED.has(contentType))
    .flatMap(({ start }) => messageIds(parseHeaderBlock(start).all('message-id')));
  const answered = [...head.all('in-reply-to'), ...head.all('references').slice(-1)];
  return enclosed[0] ?? messageIds(answered).at(-1);
}

function distinct(failed: readonly FailedRecipient[]): readonly FailedRecipient[] {
  const byKey = new Map(failed.map((each) => [matchKey(each.address), each]));
  return [...byKey.values()].slice(0, MAX_RECIPIENTS);
}
