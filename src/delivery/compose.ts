import { isInternetHost } from '../domain/email-addresses.ts';
import type { Attachment, Normalized } from '../intake/normalizer.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { withImageNames, withShownImages } from './shown-images.ts';
import type { Uploaded } from './upload-attachments.ts';

export interface Composed {
  readonly request: CreateMessageRequest;
  /** The same content with a line for each attachment, to go without them. */
  readonly plain: CreateMessageRequest;
}

/**
 * Puts what the normalizer made, the media ids and the conversation into the two requests. Copies
 * for addresses that no mail can be sent to over the internet are left out: they would only make
 * strict platforms refuse the message.
 */
export function compose(
  { request, attachments }: Pick<Normalized, 'request' | 'attachments'>,
  uploaded: Uploaded,
  conversationId: string | undefined,
): Composed {
  const { contact, conversation } = request;
  const message = withSendableCopies(request.message);
  const base = {
    contact,
    conversation: { ...conversation, ...(conversationId !== undefined && { id: conversationId }) },
  };
  return {
    request: {
      ...base,
      message: {
        ...message,
        content: withLines(withShownImages(message.content, uploaded.shown), uploaded.missing),
        ...(uploaded.mediaIds.length > 0 && { attachments: uploaded.mediaIds }),
      },
    },
    plain: {
      ...base,
      message: {
        ...message,
        content: withLines(
          withImageNames(message.content, uploaded.shown),
          placeholders(attachments),
        ),
        format: 'TEXT',
      },
    },
  };
}

function withSendableCopies(message: CreateMessageRequest['message']) {
  const { cc, bcc } = message.email ?? {};
  if (![...(cc ?? []), ...(bcc ?? [])].some(({ email }) => email && !isInternetHost(email))) {
    return message;
  }
  const sendable = (list: typeof cc) =>
    list?.filter(({ email }) => !email || isInternetHost(email));
  const copies = { ...(cc && { cc: sendable(cc) }), ...(bcc && { bcc: sendable(bcc) }) };
  return { ...message, email: { ...message.email, ...copies } };
}

const placeholders = (attachments: readonly Attachment[]): readonly string[] =>
  attachments.map(({ placeholder }) => placeholder);

function withLines(content: string, lines: readonly string[]): string {
  return lines.length === 0 ? content : `${content}\n\n${lines.join('\n')}`;
}
