import { isInternetHost } from '../domain/email-addresses.ts';
import type { Attachment, Normalized } from '../intake/normalizer.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';

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

/** An image that a content in Markdown or HTML shows. */
export interface ShownImage {
  /** What stands in the content for its address, which is known only once it is uploaded. */
  readonly shownAs: string;
  /** Undefined when it could not be uploaded, or not everybody may read it. */
  readonly url: string | undefined;
}

/** What became of a message's attachments. */
export interface Uploaded {
  readonly mediaIds: readonly string[];
  /** Images that the content shows: what stands there for each, and where it is to be read. */
  readonly shown: readonly ShownImage[];
  /** Lines for the content, one for each attachment that could not be had or uploaded. */
  readonly missing: readonly string[];
  /** Parts that cannot be had yet: a message of their own brings them. */
  readonly late: readonly string[];
}

/** The platform's own bound is not documented. */
const MAX_CONTENT_LENGTH = 100_000;

/** The content with the images' addresses in it, or with their names where there is none. */
export function withShownImages(content: string, images: readonly ShownImage[]): string {
  const shown = images.reduce(showImage, content);
  return shown.length <= MAX_CONTENT_LENGTH ? shown : withImageNames(content, images);
}

/** The content with the names of the images in their places. */
export function withImageNames(
  content: string,
  images: readonly Pick<ShownImage, 'shownAs'>[],
): string {
  return images.reduce((text, { shownAs }) => nameImage(text, shownAs), content);
}

function showImage(content: string, { shownAs, url }: ShownImage): string {
  if (url === undefined || !/^https?:\/\//i.test(url)) return nameImage(content, shownAs);
  // No character of it may end the Markdown link or the attribute that it stands in.
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
