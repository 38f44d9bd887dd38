import { isInternetHost } from '../domain/email-addresses.ts';
import type { Attachment, Normalized } from '../intake/normalizer.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';

export interface Composed {
  readonly request: CreateMessageRequest;
  /** The same content without attachments, with a line in place of each. */
  readonly plain: CreateMessageRequest;
}

/**
 * Builds the two requests from the normalized message, the media ids and the conversation. Copy
 * addresses that cannot receive mail over the internet are left out: strict platforms would refuse
 * the message because of them.
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

/** An image that Markdown or HTML content shows. */
export interface ShownImage {
  /** The placeholder in the content for the image's URL, which is known only after the upload. */
  readonly shownAs: string;
  /** Undefined when it was not uploaded or its URL is not public. */
  readonly url: string | undefined;
}

/** The result of uploading a message's attachments. */
export interface Uploaded {
  readonly mediaIds: readonly string[];
  /** Images that the content shows, with their placeholders and URLs. */
  readonly shown: readonly ShownImage[];
  /** Lines for the content, one for each attachment that could not be retrieved or uploaded. */
  readonly missing: readonly string[];
  /** Parts that are not available yet; a follow-up message delivers them. */
  readonly late: readonly string[];
}

/** The platform's own limit is not documented. */
const MAX_CONTENT_LENGTH = 100_000;

/** The content with the images' URLs, or with their names where there is no URL. */
export function withShownImages(content: string, images: readonly ShownImage[]): string {
  const shown = images.reduce(showImage, content);
  return shown.length <= MAX_CONTENT_LENGTH ? shown : withImageNames(content, images);
}

/** The content with the images' names in place of the images. */
export function withImageNames(
  content: string,
  images: readonly Pick<ShownImage, 'shownAs'>[],
): string {
  return images.reduce((text, { shownAs }) => nameImage(text, shownAs), content);
}

function showImage(content: string, { shownAs, url }: ShownImage): string {
  if (url === undefined || !/^https?:\/\//i.test(url)) return nameImage(content, shownAs);
  // Escaped so that no character of the URL ends the Markdown link or the HTML attribute.
  const safe = encodeURI(url)
    .replace(/%25/g, '%')
    .replace(/[()']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return content.replaceAll(shownAs, () => safe);
}

function nameImage(content: string, shownAs: string): string {
  const target = shownAs.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return content
    .replace(new RegExp(`!\\[((?:[^\\]\\\\]|\\\\.)*)\\]\\(${target}\\)`, 'g'), '[image: $1]')
    .replace(new RegExp(`<img src="${target}" alt="([^"]*)" />`, 'g'), '[image: $1]');
}
