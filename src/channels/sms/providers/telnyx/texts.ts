import { z } from 'zod';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import { parseAddress } from '../../address.ts';
import { groupLines, wordsOf } from '../../normalize/content.ts';
import { readContent } from '../../normalize/whatsapp-message.ts';
import { locationWords, memberLines } from '../../normalize/whatsapp-words.ts';
import type { ProviderTexts, ReceivedText, TextMessage } from '../../provider.ts';
import { ACCOUNT_ID, type TelnyxShopAccount } from './account.ts';
import { readEvent, readMessage, type TelnyxMessage } from './event.ts';
import { telnyxMedium } from './media.ts';

/** The limit of the API for one message; more would be no message of it. */
const MAX_MEDIA = 10;
const MAX_SUBJECT = 200;

/**
 * The text of an event, which is stored as it came.
 * @param event as JSON
 */
export function receivedText(message: TelnyxMessage, event: Uint8Array): ReceivedText {
  const { id, from, recipients } = message;
  const [to = '', ...alsoTo] = recipients;
  return {
    ...{ id, account: ACCOUNT_ID, from, to, alsoTo },
    name: '',
    meta: { provider: 'telnyx' },
    raw: event,
  };
}

/**
 * What the shop wrote in the WhatsApp Business app (Telnyx, "WhatsApp Coexistence Webhooks"): from
 * our number, to the customer's.
 */
export function receivedEcho(message: TelnyxMessage, event: Uint8Array): ReceivedText {
  const [from = '', ...others] = message.recipients;
  return receivedText({ ...message, from, recipients: [message.from, ...others] }, event);
}

export const telnyxTexts: ProviderTexts<TelnyxShopAccount> = {
  name: 'telnyx',
  read: (meta, raw) => {
    const message = readMessage(readEvent(raw).payload);
    const to = String(meta['to']);
    return {
      ...{ id: message.id, account: ACCOUNT_ID, from: String(meta['from']), to },
      name: undefined,
      optOutType: message.optOutType,
      writtenAt: message.receivedAt,
      ...contentOf(message, to),
    };
  },
  /** Telnyx's ids are UUIDs (Telnyx, "Message object"). */
  isMessageId: (id) => z.uuid().safeParse(id).success,
  parametersIn: () => undefined,
  // Texts have no names, and the meta has the addresses.
  sendersIn: () => ({ from: '', to: '', name: '' }),
  /** Telnyx, "Advanced opt-in/out": the default behavior. */
  keywords: {
    optOut: new Set(['STOP', 'STOPALL', 'STOP ALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT']),
    optIn: new Set(['START', 'UNSTOP']),
  },
  mediaSource: ({ url }, _message, account) => telnyxMedium(url, account),
};

type Content = Pick<TextMessage, 'body' | 'words' | 'context' | 'media' | 'isNotice'>;

/** The content by the type of the message; an MMS without a text says its subject. */
function contentOf(message: TelnyxMessage, ours: string): Content {
  const { type, text, subject, recipients, body } = message;
  if (type === 'WHATSAPP') return readContent(body, parseAddress(ours).address, 'url');
  if (type === 'RCS') return rcsContent(body, text);
  const media = message.media.slice(0, MAX_MEDIA);
  const title = cleanLine(subject, MAX_SUBJECT);
  const said = text.trim() === '' ? title : text;
  const isPlain = type === 'SMS' || media.length > 0;
  const others = recipients.filter((number) => number !== ours);
  return {
    ...{ body: text, media },
    words: wordsOf(said, isPlain ? undefined : ['Telnyx', type]),
    context: [
      ...(title === '' || said === title ? [] : [`[Subject: ${title}]`]),
      ...groupLines(others),
    ],
  };
}

const word = z.string().optional().catch(undefined);
const figure = z.number().transform(String).optional().catch(undefined);
const rcsSchema = z
  .object({
    text: word,
    suggestion_response: z.object({ text: word }).optional().catch(undefined),
    location: z.object({ latitude: figure, longitude: figure }).optional().catch(undefined),
    user_file: z
      .object({ payload: z.object({ file_uri: z.string(), mime_type: word }) })
      .optional()
      .catch(undefined),
  })
  .catch({});

/**
 * A message over RCS: a text, the suggestion that was chosen, a place, or a file, as in Google's API
 * with names in snake case (Telnyx, "Receiving RCS webhooks"; it has not been tried). A file that is
 * not at Telnyx is shown as not retrieved.
 */
function rcsContent(body: unknown, text: string): Content {
  const { text: written = text, suggestion_response, location, user_file } = rcsSchema.parse(body);
  const place =
    location &&
    locationWords({
      ...{ name: undefined, address: undefined },
      ...{ latitude: location.latitude, longitude: location.longitude },
    });
  const said = [written, suggestion_response?.text, place].find((each) => each?.trim());
  const file = user_file?.payload;
  const isSilent = said === undefined && file === undefined;
  return {
    body: said ?? '',
    words: wordsOf(said, isSilent ? ['RCS', kindIn(body)] : undefined),
    context: isSilent ? memberLines(body) : [],
    media: file === undefined ? [] : [{ url: file.file_uri, contentType: file.mime_type }],
  };
}

/** The name of the first member, which holds the content. */
const kindIn = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null ? Object.keys(body)[0] : undefined;
