import { mailboxOf, type Sender, selectSender } from '../../sender.ts';
import type { HeaderBlock } from '../../header-block.ts';
import type { Verdict } from '../../../../intake/normalizer.ts';
import type { CreateMessageRequest } from '../../../../platform-api/schemas.ts';
import { type Claim, treatSender } from '../../authentication/sender-policy.ts';
import { classify } from './classify.ts';
import { type CountedHead, countedHead } from './counted-mail.ts';
import type { EmailJob } from '../email-job.ts';
import { readSubject } from './header-text.ts';
import { autoReplyEvents } from './mail-events.ts';
import { readThreading } from './message-ids.ts';
import {
  type NamedAddress,
  platformAddress,
  readCopyRecipients,
  toNamedAddress,
} from './recipients.ts';
import { readSentAt } from './sent-at.ts';
import type { ShopMail } from '../shop-mail.ts';

/** A request without its content. */
export interface MessageHead {
  readonly verdict: Verdict;
  /** Absent when nothing is submitted, or it does not count toward the loop limits. */
  readonly counted?: CountedHead;
  readonly subject: string | undefined;
  readonly request: (content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML') => CreateMessageRequest;
}

type HeadJob = Omit<EmailJob, 'raw' | 'scratch'>;

/** Everything of a message that its header block tells. Bounded and linear for any input. */
export function readHead(head: HeaderBlock, job: HeadJob, shop: ShopMail): MessageHead {
  const { meta } = job;
  const sender = selectSender(head, shop.own, { formSenders: shop.formSenders });
  const contact = contactOf(sender, head, meta.envelopeFrom);
  const subject = readSubject(head.first('subject'));
  const { inReplyTo, references } = readThreading(head);
  const treatment = treatSender(job.authentication, claimIn(sender), shop.senderRules);
  const copies = readCopyRecipients(head, shop.own, contact.email);
  const { cc, bcc } = treatment.dropCopies ? { cc: [], bcc: [] } : copies;
  const found: Verdict = job.released
    ? { kind: 'deliver' }
    : classify({ head, sender, subject, meta, shop });
  const isAutoReply = found.kind === 'suppressed' && found.reason === 'auto-reply';
  // Nobody puts a line on another person's timeline by naming him.
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

/** Without an author the envelope's sender is taken for him, which anybody can write too. */
function claimIn(sender: Sender): Claim | undefined {
  if (sender.kind === 'none') return 'by-anybody';
  if (sender.kind !== 'claimed') return undefined;
  return sender.byForm ? 'by-form' : 'by-anybody';
}

/** What is suppressed stays so: nobody has to look at a forged automatic answer. */
function heldFor(reason: string | undefined, found: Verdict, released: boolean): Verdict {
  if (reason === undefined || released || found.kind !== 'deliver') return found;
  return { kind: 'held', reason };
}

const NOT_VERIFIED = '(It could not be verified who sent this message.)';

function labelled(content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML'): string {
  const line = format === 'HTML' ? `<p>${NOT_VERIFIED}</p>` : NOT_VERIFIED;
  return `${line}\n\n${content}`;
}

/** The person who wrote; without a usable From the envelope's sender, who at least can be answered. */
function contactOf(sender: Sender, head: HeaderBlock, envelopeFrom: string): Partial<NamedAddress> {
  const mailbox = mailboxOf(sender);
  const named = mailbox === undefined ? undefined : toNamedAddress(mailbox);
  if (named !== undefined) return named;
  const email = platformAddress(envelopeFrom);
  if (email !== undefined) return { email };
  const name = readSubject(head.first('from'))?.slice(0, 200);
  return name === undefined ? {} : { name };
}
