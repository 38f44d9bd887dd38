import { isDoubtfulAddress, isInternetHost } from '../domain/strict-addresses.ts';
import type { Attachment, Normalized } from '../intake/normalizer.ts';
import type { RequestField } from '../platform-api/errors.ts';
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
  const tag = `<img src="${shownAs}" alt="`;
  const [start = '', ...tags] = content.split(tag);
  const named = tags.map((rest) =>
    `${tag}${rest}`.replace(/^<img src="[^"]*" alt="([^"]*)" \/>/, '[image: $1]'),
  );
  const target = `](${shownAs})`;
  const [end = '', ...images] = [start, ...named].join('').split(target).toReversed();
  return [...images.map((text) => nameLast(text, target)).toReversed(), end].join('');
}

/** The text up to the target of an image in Markdown, with the image's name in the place of it. */
function nameLast(text: string, target: string): string {
  const start = text.lastIndexOf('![');
  if (start === -1) return `${text}${target}`;
  return `${text.slice(0, start)}[image: ${text.slice(start + 2)}]`;
}

/** Each undoes one part of the normalized message. */
export const RUNGS = [
  'address',
  'attachments_anew',
  'conversation',
  'plain_text',
  'copies',
  'references',
] as const;
export type Rung = (typeof RUNGS)[number];
/** What one request changes. */
export type Form = readonly Rung[];

const WITHOUT_ADDRESSES: Form = ['address', 'copies'];
/**
 * The forms that are tried, in this order, when the platform refuses a message (400, 413, 415, 422)
 * and names no field. An answer to one address says nothing about the other ones.
 */
const LADDER: readonly Form[] = [
  ['address'],
  ['attachments_anew'],
  ['conversation'],
  ['plain_text'],
  ['copies'],
  WITHOUT_ADDRESSES,
  ['references'],
];

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
 * The next form, or undefined when none is left; at most as many as the ladder has. When answers
 * name fields, everything that they name is undone together, and at last both the address and the
 * copies; if none of it can be undone, the forms of the ladder that apply are tried. The contact's
 * email address is left out only when it is named or its form is doubtful; a phone number never is.
 */
export function nextForm(
  request: CreateMessageRequest,
  tried: readonly Form[],
  named: readonly string[],
): Form | undefined {
  if (tried.length >= LADDER.length) return undefined;
  const applies = (rung: Rung) => canUndo(rung, request, named);
  const refused = new Set(tried.flat());
  const undoing = Object.entries(RUNGS_OF)
    .filter(([field]) => named.includes(field))
    .map(([, rungs]) => rungs.filter(applies))
    .flatMap((rungs) => rungs.find((rung) => !refused.has(rung)) ?? rungs.slice(-1));
  const byName = RUNGS.filter((rung) => undoing.includes(rung));
  const forms = byName.length > 0 ? [byName, WITHOUT_ADDRESSES] : LADDER;
  const before = new Set(tried.map(String));
  return forms.find((form) => form.every(applies) && !before.has(String(form)));
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

/** The request without the form's parts. `submit` makes the two changes that need more than this. */
export function without(form: Form, request: CreateMessageRequest): CreateMessageRequest {
  return form.reduce(withoutPart, request);
}

function withoutPart(request: CreateMessageRequest, rung: Rung): CreateMessageRequest {
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
    case 'attachments_anew':
    case 'plain_text':
      return request;
  }
}
