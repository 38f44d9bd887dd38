import { hash } from 'node:crypto';
import { matchKey } from '../../../../domain/email-addresses.ts';
import { mailboxOf, type Sender } from '../../sender.ts';
import type { HeaderBlock } from '../../header-block.ts';
import { type CountedMessage, countedWhenForged } from '../../../../spool/sender-rates.ts';
import type { EmailMeta } from '../../email-meta.ts';
import { isAllowedSender, isFrom } from './classify.ts';
import type { AttachedFile } from '../email-job.ts';
import { readThreading } from './message-ids.ts';
import { answeredSubject } from './reply-subject.ts';
import type { ShopMail } from '../shop-mail.ts';

/** As what a message counts among those of its person; the body is added when it is known. */
export type CountedHead = Required<Pick<CountedMessage, 'person' | 'thread'>>;

export interface EmailToCount {
  readonly head: HeaderBlock;
  readonly sender: Sender;
  readonly meta: EmailMeta;
  readonly remoteId: string;
  readonly subject: string | undefined;
  readonly shop: Pick<ShopMail, 'formSenders' | 'allowSenders'>;
  /** Somebody may have written it in the person's name. */
  readonly isForged: boolean;
}

/**
 * Undefined for who may send as much as he likes: forms and market places, `allowSenders`. What may
 * be forged counts apart from what the person is known to have sent: a stranger must not use up the
 * limits of another.
 */
export function countedHead(message: EmailToCount): CountedHead | undefined {
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
