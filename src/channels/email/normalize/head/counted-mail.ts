import { hash } from 'node:crypto';
import { matchKey } from '../../../../intake/email-addresses.ts';
import { mailboxOf, type Sender } from '../../../../intake/email-sender.ts';
import type { HeaderBlock } from '../../../../intake/header-block.ts';
import type { CountedMessage } from '../../../../spool/sender-rates.ts';
import type { EmailMeta } from '../../email-meta.ts';
import { isAllowedSender, isFrom } from './classify.ts';
import type { AttachedFile } from '../email-job.ts';
import { readThreading } from './message-ids.ts';
import { answeredSubject } from './reply-subject.ts';
import type { ShopMail } from '../shop-mail.ts';

/** As what a message counts among those of its person; the body is added when it is known. */
export type CountedHead = Required<Pick<CountedMessage, 'person' | 'thread'>>;

/** Undefined for who may send as much as he likes: forms and market places, `allowSenders`. */
export function countedHead(
  head: HeaderBlock,
  sender: Sender,
  meta: EmailMeta,
  remoteId: string,
  subject: string | undefined,
  shop: Pick<ShopMail, 'formSenders' | 'allowSenders'>,
): CountedHead | undefined {
  if (isFrom(head, shop.formSenders) || isAllowedSender(head, sender, shop.allowSenders)) {
    return undefined;
  }
  const person = matchKey(mailboxOf(sender)?.address ?? meta.envelopeFrom);
  if (person === undefined) return undefined;
  return { person, thread: threadOf(head, subject) ?? meta.messageId ?? remoteId };
}

/**
 * What a reply belongs to: the root of its References. Machines often leave these out; In-Reply-To
 * alone names another message each time, so that then the subject has to do.
 */
function threadOf(head: HeaderBlock, subject: string | undefined): string | undefined {
  const { references, inReplyTo } = readThreading(head);
  const answered = answeredSubject(subject);
  return references[0] ?? (answered === undefined ? inReplyTo : `subject: ${answered}`);
}

/** Stands for what the person sent: the words without the quoted history, and the files. */
export function bodyKey(content: string, files: readonly AttachedFile[]): string {
  const parts = files.map(({ name, size, part }) => `${name}\0${size}\0${part}`);
  return hash('sha256', [content, ...parts].join('\0\0'));
}

/**
 * One message to several of a shop's inboxes makes several entries and counts once. Undefined
 * without a Message-ID: then each entry is a message.
 */
export function messageKey(head: HeaderBlock, meta: EmailMeta, body: string): string | undefined {
  if (meta.messageId === undefined) return undefined;
  return hash('sha256', [meta.messageId, head.first('date') ?? '', body].join('\0'));
}
