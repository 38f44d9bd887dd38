import { parseAddress, TRANSPORT_NAMES } from '../../address.ts';
import { groupLines, submittable, wordsOf } from '../../normalize/content.ts';
import {
  choiceWords,
  formWords,
  locationWords,
  oneLine,
  type Origin,
  originLines,
} from '../../normalize/whatsapp-words.ts';
import { type FormFields, MESSAGE_SID } from './form.ts';
import { MAX_MEDIA } from './media.ts';

/**
 * The person's words: the Body; otherwise the text of the button that was pressed, or the item that
 * was selected from a list (WhatsApp, RCS); and the form that was filled in (WhatsApp Flows). If
 * there is none of these, the shared location; otherwise what kind of message it is, or a line that
 * says that there is no text, since content is required (API §4.7). Not trimmed.
 */
export function messageText(fields: FormFields): string {
  const chosen =
    textOf(fields, 'ButtonText') ?? choiceWords(fields.first('ListTitle'), fields.first('ListId'));
  // InteractiveData may repeat the selection.
  const form = chosen === undefined ? formWords(fields.first('InteractiveData') ?? '') : undefined;
  const said = [textOf(fields, 'Body') ?? chosen, form].filter((text) => text !== undefined);
  if (said.length > 0) return said.join('\n\n');
  const { transport } = parseAddress(fields.first('From') ?? '');
  const type = fields.first('MessageType');
  const isPlain = type === 'text' || (transport === 'sms' && type === undefined);
  const kind =
    isPlain || mediaCount(fields) > 0 ? undefined : ([TRANSPORT_NAMES[transport], type] as const);
  return wordsOf(placeOf(fields), kind);
}

/** How many media the message has, also those that Twilio gives no URL for. */
export function mediaCount(fields: FormFields): number {
  const urls = Array.from(
    { length: MAX_MEDIA },
    (_, index) => fields.first(`MediaUrl${index}`) ?? '',
  );
  const said = Number(fields.first('NumMedia') ?? 0);
  const last = urls.findLastIndex((url) => url !== '') + 1;
  return Math.max(last, Number.isSafeInteger(said) ? Math.min(said, MAX_MEDIA) : 0);
}

const placeOf = (fields: FormFields): string | undefined =>
  locationWords({
    name: fields.first('Label'),
    address: fields.first('Address'),
    latitude: fields.first('Latitude'),
    longitude: fields.first('Longitude'),
  });

/**
 * The origin of the message and what it replies to, each as a line in brackets. The parameters are
 * documented in Twilio, "Twilio's request to your incoming message Webhook URL", WhatsApp-specific
 * parameters.
 * @param to the shop's own address, as in To
 */
export const contextOf = (fields: FormFields, to: string): string[] => [
  ...groupLines(otherRecipients(fields).filter((each) => each !== to)),
  ...originLines({
    forwarded: forwardedBy(fields),
    repliedTo: repliedTo(fields, to),
    ad: adOf(fields),
  }),
];

const MAX_OTHERS = 20;

/** Of a text to a group: `OtherRecipients0` and so on, or one parameter that occurs several times. */
const otherRecipients = (fields: FormFields): readonly string[] =>
  ['', ...Array(MAX_OTHERS).keys()]
    .flatMap((index) => fields.all(`OtherRecipients${index}`))
    .filter((each) => each.trim() !== '');

function forwardedBy(fields: FormFields): Origin['forwarded'] {
  const is = (name: string): boolean => fields.first(name)?.toLowerCase() === 'true';
  if (is('FrequentlyForwarded')) return 'often';
  return is('Forwarded') ? 'once' : undefined;
}

function repliedTo(fields: FormFields, to: string): Origin['repliedTo'] {
  const id = fields.first('OriginalRepliedMessageSid') ?? '';
  if (!MESSAGE_SID.test(id)) return undefined;
  const sender = parseAddress(fields.first('OriginalRepliedMessageSender') ?? '').address;
  if (sender === '') return { id, whose: undefined };
  return { id, whose: sender === parseAddress(to).address ? 'ours' : 'theirs' };
}

function adOf(fields: FormFields): Origin['ad'] {
  const url = fields.first('ReferralSourceUrl');
  const headline = fields.first('ReferralHeadline');
  const body = fields.first('ReferralBody');
  const id = fields.first('ReferralSourceId');
  const isUrl = /^https?:\/\//i.test(oneLine(url) ?? '');
  const isKnown = [headline, body, id].some((text) => oneLine(text) !== undefined);
  return isUrl || isKnown ? { url, headline, body } : undefined;
}

const textOf = (fields: FormFields, name: string): string | undefined =>
  submittable(fields.first(name) ?? '');
