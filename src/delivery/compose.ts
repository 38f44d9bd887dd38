import type { Attachment, Normalized } from '../intake/normalizer.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { withImageNames, withShownImages } from './shown-images.ts';
import type { Submission } from './submit.ts';
import type { Uploaded } from './upload-attachments.ts';

/** Puts what the normalizer made, the media ids and the conversation into the two requests. */
export function compose(
  normalized: Normalized,
  uploaded: Uploaded,
  conversationId: string | undefined,
): Submission {
  const { contact, conversation, message } = normalized.request;
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
          placeholders(normalized.attachments),
        ),
        format: 'TEXT',
      },
    },
  } satisfies { request: CreateMessageRequest; plain: CreateMessageRequest };
}

const placeholders = (attachments: readonly Attachment[]): readonly string[] =>
  attachments.map(({ placeholder }) => placeholder);

function withLines(content: string, lines: readonly string[]): string {
  return lines.length === 0 ? content : `${content}\n\n${lines.join('\n')}`;
}
