// Longer than usual: a table, one row for each kind of message that Meta documents.
import type { StandInAnswer } from '../../../../support/twilio-stand-in.ts';
import { type Members, WHATSAPP_NUMBER } from '../../../../support/whatsapp-stand-in.ts';

/** What the media hosts of the rows resolve to. */
export const RESOLVED: Readonly<Record<string, string>> = { 'lookaside.fbsbx.com': '10.0.0.5' };

/** A medium of the row, in the order of its ids: its link, and the answers to requests for it. */
export interface Medium {
  /** In place of a URL of the stand-in; null if Meta does not know the id. */
  readonly link?: string | null;
  readonly answers?: readonly StandInAnswer[];
}

export interface Payload {
  readonly content: string;
  readonly contact?: { readonly phone?: string; readonly name?: string };
  readonly files?: readonly string[];
  /** In place of the time of the receipt. */
  readonly timestamp?: string;
}

export type Outcome =
  | { readonly delivered: Payload }
  | { readonly held: string }
  /** With the words that a release would submit. */
  | { readonly suppressed: string; readonly words: string };

export interface InboundCase {
  readonly label: string;
  /** The documented members of the message besides sender, id and time. */
  readonly message: Members;
  /** In place of a sender with a number and a name. */
  readonly sender?: { readonly message?: Members; readonly contacts: readonly Members[] };
  readonly media?: Medium;
  readonly outcome: Outcome;
}

const delivered = (content: string, rest: Omit<Payload, 'content'> = {}) => ({
  outcome: { delivered: { content, ...rest } },
});
const notice = (words: string) => ({ outcome: { suppressed: 'notice', words } });

const OURS = 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI4MjZGRDA0OUE2OTQ3RkEyMzcA';
const DISPLAYED = WHATSAPP_NUMBER.slice(1);
/** The id of each row's medium. */
export const MEDIUM = '1003383421387256';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const picture: StandInAnswer = { status: 200, body: PNG };
/** The head of an Ogg page whose content is Opus (RFC 7845 §3). */
const OPUS = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead')]);
const lost = (type: string): string => `[attachment could not be retrieved: ${type}, ${MEDIUM}]`;
const image = (more: Members = {}): Members => ({
  type: 'image',
  image: {
    mime_type: 'image/jpeg',
    sha256: 'SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=',
    id: MEDIUM,
    url: 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1',
    ...more,
  },
});
const text = (body: unknown, more: Members = {}): Members => ({
  type: 'text',
  text: { body },
  ...more,
});
const interactive = (of: Members, more: Members = {}): Members => ({
  type: 'interactive',
  interactive: of,
  context: { from: DISPLAYED, id: OURS },
  ...more,
});
const REPLY = `[In reply to our message ${OURS}]`;
const AD = {
  source_url: 'https://fb.me/3cr4Wqqkv',
  source_id: '120226305854810726',
  source_type: 'ad',
  body: 'Summer succulents are here!',
  headline: 'Chat with us',
  media_type: 'image',
  image_url: 'https://scontent.xx.fbcdn.net/v/t45.1',
  ctwa_clid: 'Aff-n8ZTODiE79d22KtAwQKj9e_mIEOOj27vDVwFjN80dp4_0N',
  welcome_message: { text: 'Hi there! Let us know how we can help!' },
};

/** To the second, as Meta writes it. */
const NOW = Math.floor(Date.now() / 1000) * 1000;
const HOUR_MS = 3_600_000;
const at = (time: number): Members => text('Hi', { timestamp: String(time / 1000) });

const TEXTS: readonly InboundCase[] = [
  {
    label: 'a text of two hours ago',
    message: at(NOW - 2 * HOUR_MS),
    ...delivered('Hi', { timestamp: new Date(NOW - 2 * HOUR_MS).toISOString() }),
  },
  {
    label: 'a time that is a number',
    message: text('Hi', { timestamp: (NOW - HOUR_MS) / 1000 }),
    ...delivered('Hi', { timestamp: new Date(NOW - HOUR_MS).toISOString() }),
  },
  { label: 'a time in an hour', message: at(NOW + HOUR_MS), ...delivered('Hi') },
  { label: 'a time of 31 days ago', message: at(NOW - 31 * 24 * HOUR_MS), ...delivered('Hi') },
  ...['', 'soon', '-1', '1e400', '9'.repeat(300), null, undefined].map((timestamp) => ({
    label: `a time that is none: ${String(timestamp).slice(0, 20)}`,
    message: text('Hi', { timestamp }),
    ...delivered('Hi'),
  })),
  {
    label: 'a text',
    message: text('Does it come in another color?'),
    ...delivered('Does it come in another color?'),
  },
  {
    label: 'a text with NUL and line breaks',
    message: text('one\u0000\n\ttwo\n'),
    ...delivered('one\n\ttwo\n'),
  },
  { label: 'a text in Unicode', message: text('Здравей 👩‍👩‍👧 你好'), ...delivered('Здравей 👩‍👩‍👧 你好') },
  { label: 'an empty text', message: text(''), ...delivered('(no text)') },
  { label: 'a text that is no text', message: text(7), ...delivered('7') },
  { label: 'STOP, which Meta does not answer', message: text('STOP'), ...delivered('STOP') },
  {
    label: 'a reply to our message',
    message: text('Yes', { context: { from: DISPLAYED, id: OURS } }),
    ...delivered(`Yes\n\n${REPLY}`),
  },
  {
    label: 'a reply to their own message',
    message: text('Yes', { context: { from: '16505551234', id: OURS } }),
    ...delivered(`Yes\n\n[In reply to their own message ${OURS}]`),
  },
  {
    label: 'a forwarded text',
    message: text('Look', { context: { forwarded: true } }),
    ...delivered('Look\n\n[Forwarded]'),
  },
  {
    label: 'a text that was forwarded often',
    message: text('Look', { context: { frequently_forwarded: true } }),
    ...delivered('Look\n\n[Forwarded many times]'),
  },
  {
    label: 'a text from an ad',
    message: text('Hello', { referral: AD }),
    ...delivered(
      'Hello\n\n[Came from an ad: Chat with us – Summer succulents are here! – https://fb.me/3cr4Wqqkv]',
    ),
  },
  {
    label: 'a text from an ad without words',
    message: text('Hello', { referral: { source_id: '1', source_type: 'ad' } }),
    ...delivered('Hello\n\n[Came from an ad]'),
  },
  {
    label: 'a text about a product of the catalog',
    message: text('Is it in stock?', {
      context: {
        ...{ from: DISPLAYED, id: OURS },
        referred_product: { catalog_id: '194836987003835', product_retailer_id: 'di9ozbzfi4' },
      },
    }),
    ...delivered(`Is it in stock?\n\n[About the product di9ozbzfi4]\n${REPLY}`),
  },
  {
    label: 'a corrected text',
    message: {
      type: 'edit',
      edit: {
        original_message_id: OURS,
        message: { context: { id: 'M0' }, type: 'text', text: { body: 'I meant Monday' } },
      },
    },
    ...delivered(`I meant Monday\n\n[Corrects message ${OURS}]\n[In reply to message M0]`),
  },
];

const MEDIA: readonly InboundCase[] = [
  {
    label: 'an image with a caption',
    message: image({ caption: 'Taj Mahal' }),
    media: { answers: [picture] },
    ...delivered('Taj Mahal', { files: ['image-1.png'] }),
  },
  {
    label: 'an image without a caption',
    message: image(),
    media: { answers: [picture] },
    ...delivered('(no text)', { files: ['image-1.png'] }),
  },
  {
    label: 'an image whose link has expired once',
    message: image(),
    media: { answers: [{ status: 404 }, picture] },
    ...delivered('(no text)', { files: ['image-1.png'] }),
  },
  {
    label: 'an image that Meta no longer has',
    message: image({ caption: 'Old' }),
    media: { link: null },
    ...delivered(`Old\n\n${lost('image/jpeg')}`),
  },
  {
    label: 'an image on another host',
    message: image({ caption: 'Where' }),
    media: { link: 'https://lookaside.fbsbx.com.evil.example/x' },
    ...delivered(`Where\n\n${lost('image/jpeg')}`),
  },
  {
    label: 'an image on a private address',
    message: image({ caption: 'Inside' }),
    media: { link: 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1' },
    ...delivered(`Inside\n\n${lost('image/jpeg')}`),
  },
  {
    label: 'an image without an id',
    message: image({ id: undefined, caption: 'Nothing' }),
    ...delivered('Nothing'),
  },
  {
    label: 'an image whose id is a path',
    message: image({ id: '../me', caption: 'Path' }),
    ...delivered('Path\n\n[attachment could not be retrieved: image/jpeg]'),
  },
  {
    label: 'a video',
    message: {
      type: 'video',
      video: { caption: 'Watch', mime_type: 'video/mp4', sha256: 'x', id: MEDIUM },
    },
    media: { link: null },
    ...delivered(`Watch\n\n${lost('video/mp4')}`),
  },
  {
    label: 'a voice message',
    message: {
      type: 'audio',
      audio: { mime_type: 'audio/ogg; codecs=opus', sha256: 'x', id: MEDIUM, voice: true },
    },
    media: { answers: [{ status: 200, body: OPUS }] },
    ...delivered('(no text)\n\n[Voice message]', { files: ['audio-1.opus'] }),
  },
  {
    label: 'an audio file',
    message: { type: 'audio', audio: { mime_type: 'audio/mpeg', id: MEDIUM, voice: false } },
    media: { link: null },
    ...delivered(`(no text)\n\n${lost('audio/mpeg')}`),
  },
  {
    label: 'a document with its name',
    message: {
      type: 'document',
      document: {
        caption: 'The invoice',
        filename: 'invoice.pdf',
        mime_type: 'application/pdf',
        id: MEDIUM,
      },
    },
    media: { answers: [{ status: 200, body: '%PDF-1.7\n' }] },
    ...delivered('The invoice\n\n[File: invoice.pdf]', { files: ['file-1.pdf'] }),
  },
  {
    label: 'a sticker',
    message: {
      type: 'sticker',
      sticker: { mime_type: 'image/webp', sha256: 'x', id: MEDIUM, animated: false },
    },
    media: { answers: [picture] },
    ...delivered('(no text)', { files: ['image-1.png'] }),
  },
  {
    label: 'a corrected caption',
    message: {
      type: 'edit',
      edit: { original_message_id: OURS, message: image({ caption: 'New' }) },
    },
    ...delivered(`New\n\n[Corrects message ${OURS}]`),
  },
];

const FORMS: readonly InboundCase[] = [
  {
    label: 'a place with a name',
    message: {
      type: 'location',
      location: {
        address: '1071 5th Ave, New York, NY 10128',
        latitude: 40.782910059774,
        longitude: -73.959075808525,
        name: 'Solomon R. Guggenheim Museum',
      },
    },
    ...delivered(
      'Location: Solomon R. Guggenheim Museum, 1071 5th Ave, New York, NY 10128, ' +
        '40.782910059774,-73.959075808525\n' +
        'https://www.google.com/maps?q=40.782910059774,-73.959075808525',
    ),
  },
  {
    label: 'a place without a name',
    message: { type: 'location', location: { latitude: 1.5, longitude: 2 } },
    ...delivered('Location: 1.5,2\nhttps://www.google.com/maps?q=1.5,2'),
  },
  {
    label: 'a place that is nowhere',
    message: { type: 'location', location: { latitude: 91, longitude: 2 } },
    ...delivered('[WhatsApp: location]\n\n[latitude: 91]\n[longitude: 2]'),
  },
  {
    label: 'contacts',
    message: {
      type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Barbara J. Johnson', first_name: 'Barbara' },
          org: { company: 'Social Tsunami' },
          phones: [{ phone: '+1 (650) 555-9999', type: 'MOBILE', wa_id: '16505559999' }],
          emails: [{ email: 'barbara@example.com', type: 'WORK' }],
        },
        { name: { formatted_name: 'Ann' } },
      ],
    },
    ...delivered(
      'Contact: Barbara J. Johnson, Social Tsunami, +1 (650) 555-9999, barbara@example.com\nContact: Ann',
    ),
  },
  {
    label: 'a reply button',
    message: interactive({
      type: 'button_reply',
      button_reply: { id: 'cancel-button', title: 'Cancel' },
    }),
    ...delivered(`Cancel\n\n${REPLY}`),
  },
  {
    label: 'an item of a list',
    message: interactive({
      type: 'list_reply',
      list_reply: {
        id: 'priority_express',
        title: 'Priority Mail Express',
        description: 'Next Day to 2 Days',
      },
    }),
    ...delivered(`Priority Mail Express (priority_express)\n\n${REPLY}`),
  },
  {
    label: 'a form',
    message: interactive({
      type: 'nfm_reply',
      nfm_reply: {
        name: 'flow',
        body: 'Sent',
        response_json: '{"flow_token":"AbC","date":"2026-02-01","who":["Ann","Bo"]}',
      },
    }),
    ...delivered(`Form:\ndate: 2026-02-01\nwho: Ann\nwho: Bo\n\n${REPLY}`),
  },
  {
    label: 'a form that is no JSON',
    message: interactive(
      { type: 'nfm_reply', nfm_reply: { response_json: 'plain' } },
      { context: undefined },
    ),
    ...delivered('Form:\nplain'),
  },
  {
    label: 'a permission to call',
    message: interactive(
      {
        type: 'call_permission_reply',
        call_permission_reply: {
          response: 'accept',
          is_permanent: false,
          expiration_timestamp: 1749416383,
          response_source: 'user_action',
        },
      },
      { context: undefined },
    ),
    ...delivered(
      '[WhatsApp: call permission reply]\n\n[response: accept]\n[is_permanent: false]\n' +
        '[expiration_timestamp: 1749416383]\n[response_source: user_action]',
    ),
  },
  {
    label: 'an interactive message that is not documented',
    message: interactive({ type: 'telepathy_reply' }, { context: undefined }),
    ...delivered('[WhatsApp: telepathy reply]\n\n[type: telepathy_reply]'),
  },
  {
    label: 'a quick-reply button of a template',
    message: {
      context: { from: DISPLAYED, id: OURS },
      type: 'button',
      button: { payload: 'Unsubscribe-7', text: 'Unsubscribe' },
    },
    ...delivered(`Unsubscribe\n\n${REPLY}`),
  },
  {
    label: 'an order',
    message: {
      type: 'order',
      order: {
        catalog_id: '194836987003835',
        text: 'Love these!',
        product_items: [
          { product_retailer_id: 'di9ozbzfi4', quantity: 2, item_price: 30, currency: 'USD' },
          { product_retailer_id: 'nqryix03ez', quantity: 1 },
        ],
      },
    },
    ...delivered('Love these!\n\nOrder:\n2 × di9ozbzfi4, 30 USD each\n1 × nqryix03ez'),
  },
  {
    label: 'a reaction',
    message: { type: 'reaction', reaction: { message_id: OURS, emoji: '👍' } },
    ...notice(`Reacted with 👍\n\n[In reply to message ${OURS}]`),
  },
  {
    label: 'a reaction that a person has to see',
    message: { type: 'reaction', reaction: { message_id: OURS, emoji: '👎🏽' } },
    ...delivered('👎🏽'),
  },
  {
    label: 'a reaction that is taken back',
    message: { type: 'reaction', reaction: { message_id: OURS } },
    ...notice(`Removed a reaction\n\n[In reply to message ${OURS}]`),
  },
  {
    label: 'a deleted message',
    message: { type: 'revoke', revoke: { original_message_id: OURS } },
    ...notice(`Deleted message ${OURS}`),
  },
  {
    label: 'a change of number',
    message: {
      type: 'system',
      system: {
        body: 'User Sheena Nelson changed from 16505551234 to 12195555358',
        wa_id: '12195555358',
        type: 'user_changed_number',
      },
    },
    ...notice('User Sheena Nelson changed from 16505551234 to 12195555358'),
  },
  {
    label: 'the opening of a chat',
    message: { type: 'request_welcome' },
    ...notice('Opened the chat'),
  },
  {
    label: 'a poll, which Meta does not pass on',
    message: {
      type: 'unsupported',
      errors: [
        {
          code: 131051,
          title: 'Message type unknown',
          message: 'Message type unknown',
          error_data: { details: 'Message type is currently not supported.' },
        },
      ],
      unsupported: { type: 'poll_creation' },
    },
    ...delivered('[WhatsApp: poll creation]\n\n[WhatsApp does not pass on its content]'),
  },
  {
    label: 'a file that is too large for Meta',
    message: {
      type: 'unsupported',
      errors: [{ code: 131052, title: 'Failed', error_data: { details: 'File size too big' } }],
    },
    ...delivered('[WhatsApp: File size too big]\n\n[WhatsApp does not pass on its content]'),
  },
  {
    label: 'a type of later years',
    message: { type: 'hologram', hologram: { id: '1' } },
    ...delivered('[WhatsApp: hologram]\n\n[id: 1]'),
  },
  {
    label: 'a message without a type',
    message: { type: undefined },
    ...delivered('[WhatsApp: a message of an unknown kind]'),
  },
];

const USER_ID = 'US.13491208655302741918';
const byId = (id = USER_ID) => ({ from: undefined, from_user_id: id });

const SENDERS: readonly InboundCase[] = [
  {
    label: 'a person whose number is hidden',
    message: text('Hello'),
    sender: {
      message: byId(),
      contacts: [{ profile: { name: 'Ann', username: 'ann_l' }, user_id: USER_ID }],
    },
    ...delivered('Hello', { contact: { name: 'Ann' } }),
  },
  {
    label: 'a person with a username only',
    message: text('Hello'),
    sender: {
      message: byId('GB.1'),
      contacts: [{ profile: { username: 'ann_l' }, user_id: 'GB.1' }],
    },
    ...delivered('Hello', { contact: { name: 'ann_l' } }),
  },
  {
    label: 'a person with an id only',
    message: text('Hello'),
    sender: { message: byId('US.ENT.1'), contacts: [] },
    ...delivered('Hello', { contact: { name: 'US.ENT.1' } }),
  },
  {
    label: 'a person with an id and a number',
    message: text('Hello'),
    sender: {
      message: { from: '447400123456', from_user_id: 'GB.7' },
      contacts: [{ profile: { name: 'Bo' }, wa_id: '447400123456', user_id: 'GB.7' }],
    },
    ...delivered('Hello', { contact: { phone: '+447400123456', name: 'Bo' } }),
  },
  {
    label: 'a person whose number is with their name only',
    message: text('Hello'),
    sender: {
      message: byId('GB.2'),
      contacts: [{ profile: { name: 'Cy' }, wa_id: '447400123457' }],
    },
    ...delivered('Hello', { contact: { phone: '+447400123457', name: 'Cy' } }),
  },
  {
    label: 'a name with line breaks and overrides',
    message: text('Hello'),
    sender: {
      message: { from: '447400123458' },
      contacts: [{ profile: { name: ' Ann\n\u202eeve ' }, wa_id: '447400123458' }],
    },
    ...delivered('Hello', { contact: { phone: '+447400123458', name: 'Ann eve' } }),
  },
  {
    label: 'a contact that is none',
    message: text('Hello'),
    sender: { message: { from: '447400123459' }, contacts: ['x', { profile: 7 }] as never },
    ...delivered('Hello', { contact: { phone: '+447400123459' } }),
  },
  {
    label: 'an impossible number',
    message: text('Hello'),
    sender: { message: { from: '123456789' }, contacts: [] },
    outcome: { held: 'impossible_number' },
  },
];

export const CASES: readonly InboundCase[] = [...TEXTS, ...MEDIA, ...FORMS, ...SENDERS];
