import { isDoubtfulAddress } from '../domain/email-addresses.ts';
import type { RequestField } from '../platform-api/errors.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';

/**
 * The changes that are tried when the platform refuses a message (400, 413, 415, 422), in this
 * order when the answer names no field, each once per entry. Each rung changes one part of the
 * normalized message; the changes are not combined.
 */
export const RUNGS = [
  'address',
  'attachments_anew',
  'conversation',
  'plain_text',
  'copies',
  'references',
] as const;
export type Rung = (typeof RUNGS)[number];

/** Media ids expire, so attachments are uploaded again before they are left out. */
const RUNGS_OF: Readonly<Partial<Record<RequestField, readonly Rung[]>>> = {
  'contact.email': ['address'],
  'conversation.id': ['conversation'],
  'message.attachments': ['attachments_anew', 'plain_text'],
  'message.content': ['plain_text'],
  'message.format': ['plain_text'],
  'message.email.cc': ['copies'],
  'message.email.bcc': ['copies'],
  'message.email.references': ['references'],
  'message.email.in_reply_to': ['references'],
};

/**
 * The next rung, or undefined when none is left. Only rungs for the fields that the answers name
 * are tried; if no such rung applies, all rungs that apply are. The contact's email address is left
 * out only when it is named or its form is doubtful; a phone number never is.
 */
export function nextRung(
  request: CreateMessageRequest,
  tried: readonly Rung[],
  named: readonly string[],
): Rung | undefined {
  const applies = (rung: Rung) => canUndo(rung, request, named);
  const byName = Object.entries(RUNGS_OF)
    .filter(([field]) => named.includes(field))
    .flatMap(([, rungs]) => rungs)
    .filter(applies);
  const rungs = byName.length > 0 ? byName : RUNGS.filter(applies);
  return rungs.find((rung) => !tried.includes(rung));
}

function canUndo(
  rung: Rung,
  { contact, conversation, message }: CreateMessageRequest,
  named: readonly string[],
): boolean {
  const { attachments = [], format, email } = message;
  switch (rung) {
    case 'address':
      if (!contact.email) return false;
      return named.includes('contact.email') || isDoubtfulAddress(contact.email);
    case 'attachments_anew':
      return attachments.length > 0;
    case 'conversation':
      return Boolean(conversation.id);
    case 'plain_text':
      return attachments.length > 0 || (format !== undefined && format !== 'TEXT');
    case 'copies':
      return (email?.cc?.length ?? 0) + (email?.bcc?.length ?? 0) > 0;
    case 'references':
      return (email?.references?.length ?? 0) > 0 || Boolean(email?.in_reply_to);
  }
}

/** The request without the rung's part. `submit` builds the two rungs that need more than this. */
export function without(
  rung: Exclude<Rung, 'attachments_anew' | 'plain_text'>,
  request: CreateMessageRequest,
): CreateMessageRequest {
  const { contact, conversation, message } = request;
  switch (rung) {
    case 'address': {
      const { email, ...rest } = contact;
      const name = [contact.name, email && `<${email}>`].filter(Boolean).join(' ');
      return { ...request, contact: { ...rest, name } };
    }
    case 'conversation': {
      const { id: _id, ...rest } = conversation;
      return { ...request, conversation: rest };
    }
    case 'copies': {
      const { cc: _cc, bcc: _bcc, ...email } = message.email ?? {};
      return { ...request, message: { ...message, email } };
    }
    case 'references': {
      const { references: _references, in_reply_to: _replyTo, ...email } = message.email ?? {};
      return { ...request, message: { ...message, email } };
    }
  }
}
