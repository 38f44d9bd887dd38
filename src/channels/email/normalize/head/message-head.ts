import { hash } from 'node:crypto';
import { mailboxOf, selectSender, type Sender } from '../../sender.ts';
import type { HeaderBlock } from '../../header-block.ts';
import type { Verdict } from '../../../../intake/normalizer.ts';
import type { CreateMessageRequest } from '../../../../platform-api/schemas.ts';
import {
  type Claim,
  confirmationOf,
  type SenderConfirmation,
  type SenderTreatment,
  treatSender,
} from '../../authentication/verdict.ts';
import { classify, isAllowedSender, isFrom } from './classify.ts';
import type { AttachedFile, EmailJob } from '../job.ts';
import {
  type NamedAddress,
  platformAddress,
  readCopyRecipients,
  readSentAt,
  readSubject,
  readThreading,
  toNamedAddress,
} from './header-values.ts';
import { autoReplyEvents } from './mail-events.ts';
import { isOperatorInbox } from '../../routing.ts';
import type { ShopMail } from '../../shop.ts';
import { matchKey } from '../../../../domain/email-addresses.ts';
import { type CountedMessage, countedWhenForged } from '../../../../spool/sender-rates.ts';
import type { EmailMeta } from '../../stored.ts';
import { answeredSubject } from './subjects.ts';
import type { ReportPart } from '../reports/report-parts.ts';

/** A request without its content. */
export interface MessageHead {
  readonly verdict: Verdict;
  /** Absent if nothing is submitted, or it does not count toward the loop limits. */
  readonly counted?: CountedHead;
  /** Of who wrote it. An operator who released it has judged its content only. */
  readonly confirmation: SenderConfirmation;
  /** How many recipients of copies what confirms the sender does not cover. */
  readonly copiesLeftOut: number;
  readonly subject: string | undefined;
  readonly request: (content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML') => CreateMessageRequest;
}

type HeadJob = Omit<EmailJob, 'raw' | 'scratch'>;

/**
 * Reads everything that the header block of a message specifies. Bounded and linear for any input.
 * @param parts of the message, by which reports of machines are known; empty if it is unreadable
 */
export function readHead(
  head: HeaderBlock,
  job: HeadJob,
  shop: ShopMail,
  parts: readonly ReportPart[],
): MessageHead {
  const { meta } = job;
  const sender = selectSender(head, shop);
  const contact = contactOf(sender, head, meta.envelopeFrom);
  const subject = readSubject(head.first('subject'));
  const { inReplyTo, references } = readThreading(head);
  const treatment = treatSender(job.authentication, claimIn(sender), shop.senderRules);
  const { dropCopies, uncovered = [] } = treatment;
  const copiesWithout = (fields: readonly string[]) =>
    readCopyRecipients(head, shop.own, contact.email, fields);
  const { cc, bcc } = dropCopies ? { cc: [], bcc: [] } : copiesWithout(uncovered);
  const all = uncovered.length > 0 && !dropCopies ? copiesWithout([]) : { cc, bcc };
  const found: Verdict = job.released
    ? { kind: 'deliver' }
    : heldForOperator(classify({ head, sender, subject, meta, parts, shop }), meta, shop);
  const isAutoReply = found.kind === 'suppressed' && found.reason.code === 'auto_reply';
  // A forged automatic reply must not create an event on another person's timeline.
  const verdict: Verdict =
    isAutoReply && !treatment.dropCopies
      ? { ...found, events: autoReplyEvents(contact, subject, job.receivedAt) }
      : heldFor(treatment.hold, found, job.released);
  const counted =
    verdict.kind === 'deliver' && !job.released
      ? countedHead({
          ...{ head, sender, meta, subject, shop },
          remoteId: job.remoteId,
          isForged: job.authentication !== undefined && treatment.dropCopies,
        })
      : undefined;
  return {
    verdict,
    ...(counted && { counted }),
    confirmation: confirmationOf(job.authentication, claimIn(sender)),
    copiesLeftOut: all.cc.length + all.bcc.length - cc.length - bcc.length,
    subject,
    request: (content, format) => ({
      contact,
      conversation: { direction: 'inbound', type: 'email', agent_contact: meta.agentContact },
      message: {
        content: treatment.label ? labelled(content, format) : content,
        format,
        remote_id: job.remoteId,
        timestamp: new Date(readSentAt(head.first('date'), job.receivedAt)).toISOString(),
        email: {
          ...(subject !== undefined && { subject }),
          ...(inReplyTo !== undefined && { in_reply_to: inReplyTo }),
          ...(references.length > 0 && { references }),
          ...(cc.length > 0 && { cc }),
          ...(bcc.length > 0 && { bcc }),
        },
      },
    }),
  };
}

/** Without an author, the envelope sender counts as the author, and anyone can write that too. */
export function claimIn(sender: Sender): Claim | undefined {
  if (sender.kind === 'none') return 'by-anybody';
  if (sender.kind !== 'claimed') return undefined;
  return sender.byForm ? 'by-form' : 'by-anybody';
}

/** A suppressed message stays suppressed: an operator need not look at forged automatic answers. */
function heldFor(code: SenderTreatment['hold'], found: Verdict, released: boolean): Verdict {
  if (code === undefined || released || found.kind !== 'deliver') return found;
  return { kind: 'held', reason: { code } };
}

/** A complaint to abuse@ that the shop does not suppress is no message to an agent either. */
function heldForOperator(found: Verdict, { agentContact }: EmailMeta, { own }: ShopMail): Verdict {
  if (found.kind !== 'deliver' || !isOperatorInbox(agentContact, own)) return found;
  return { kind: 'held', reason: { code: 'postmaster' } };
}

const NOT_VERIFIED = '(It could not be verified who sent this message.)';

function labelled(content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML'): string {
  const line = format === 'HTML' ? `<p>${NOT_VERIFIED}</p>` : NOT_VERIFIED;
  return `${line}\n\n${content}`;
}

/** The author; without a usable From, the envelope sender, who can at least be answered. */
function contactOf(sender: Sender, head: HeaderBlock, envelopeFrom: string): Partial<NamedAddress> {
  const mailbox = mailboxOf(sender);
  const named = mailbox === undefined ? undefined : toNamedAddress(mailbox);
  if (named !== undefined) return named;
  const email = platformAddress(envelopeFrom);
  if (email !== undefined) return { email };
  const name = readSubject(head.first('from'))?.slice(0, 200);
  return name === undefined ? {} : { name };
}

/** The keys under which a message is counted; the body is added when it is known. */
type CountedHead = Required<Pick<CountedMessage, 'person' | 'thread'>>;

interface EmailToCount {
  readonly head: HeaderBlock;
  readonly sender: Sender;
  readonly meta: EmailMeta;
  readonly remoteId: string;
  readonly subject: string | undefined;
  readonly shop: Pick<ShopMail, 'formSenders' | 'allowSenders'>;
  /** Another person may have written it in this person's name. */
  readonly isForged: boolean;
}

/**
 * Undefined for senders without limits: forms, marketplaces and `allowSenders`. Messages that may
 * be forged are counted separately from verified ones, so that a stranger cannot use up another
 * person's limits.
 */
function countedHead(message: EmailToCount): CountedHead | undefined {
  const { head, sender, meta, remoteId, subject, shop } = message;
  if (isFrom(head, shop.formSenders) || isAllowedSender(head, sender, shop.allowSenders)) {
    return undefined;
  }
  const person = matchKey(mailboxOf(sender)?.address ?? meta.envelopeFrom);
  if (person === undefined) return undefined;
  const thread = threadOf(head, subject) ?? meta.messageId ?? remoteId;
  return { person: message.isForged ? countedWhenForged(person) : person, thread };
}

/**
 * The thread of a reply: the root of its References. Machines often omit these, and In-Reply-To
 * alone names a different message each time, so the subject is used then.
 */
function threadOf(head: HeaderBlock, subject: string | undefined): string | undefined {
  const { references, inReplyTo } = readThreading(head);
  const answered = answeredSubject(subject);
  return references[0] ?? (answered === undefined ? inReplyTo : `subject: ${answered}`);
}

/** A key for the content of a message: the text without quoted history, and the files. */
export function bodyKey(content: string, files: readonly AttachedFile[]): string {
  const parts = files.map(({ name, size, part }) => `${name}\0${size}\0${part}`);
  return hash('sha256', [content, ...parts].join('\0\0'));
}

/**
 * A message to several inboxes of a shop creates several entries but counts once. Undefined without
 * a Message-ID; then each entry counts as a message.
 */
export function messageKey(head: HeaderBlock, meta: EmailMeta, body: string): string | undefined {
  if (meta.messageId === undefined) return undefined;
  return hash('sha256', [meta.messageId, head.first('date') ?? '', body].join('\0'));
}
