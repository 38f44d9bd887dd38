import { describe, expect, test } from '@jest/globals';
import { contentOf } from '../../../src/channels/sms/normalize/content.ts';
import type { ProviderTexts, WebhookContent } from '../../../src/channels/sms/provider.ts';
import { telnyxTexts } from '../../../src/channels/sms/providers/telnyx/texts.ts';
import { telnyxWebhook } from '../../../src/channels/sms/providers/telnyx/webhook.ts';
import { twilioTexts } from '../../../src/channels/sms/providers/twilio/texts.ts';
import { twilioWebhook } from '../../../src/channels/sms/providers/twilio/webhook.ts';
import { readEvent } from '../../../src/channels/sms/providers/whatsapp-cloud/event.ts';
import { whatsappTexts } from '../../../src/channels/sms/providers/whatsapp-cloud/texts.ts';
import { NO_TEXT } from '../../../src/domain/no-text.ts';
import { inboundPayload, telnyxEvent } from '../../support/telnyx-stand-in.ts';
import { encodeForm, inboundForm } from '../../support/twilio-stand-in.ts';
import { type Members, messageEvent } from '../../support/whatsapp-stand-in.ts';

/**
 * Kinds of messages without a text, by the providers' documentation, and some that nobody
 * documents: what a person at the other end reads.
 */
type Kind = readonly [label: string, given: Members, content: string];

const META: readonly Kind[] = [
  [
    'a permission to call',
    interactive('call_permission_reply', { response: 'reject' }),
    '[WhatsApp: call permission reply]\n\n[response: reject]',
  ],
  [
    'a payment method',
    interactive('payment_method', { payment_method: 'upi', reference_id: 'A-17' }),
    '[WhatsApp: payment method]\n\n[payment_method: upi]\n[reference_id: A-17]',
  ],
  [
    'a payment',
    { type: 'payment', payment: { reference_id: 'A-17', amount: { value: 21000, offset: 100 } } },
    '[WhatsApp: payment]\n\n[reference_id: A-17]\n[amount / value: 21000]\n[amount / offset: 100]',
  ],
  [
    'a message that can be viewed once',
    {
      type: 'unsupported',
      errors: [{ code: 131060, error_data: { details: 'This message is currently unavailable.' } }],
    },
    '[WhatsApp: This message is currently unavailable.]\n\n[WhatsApp does not pass on its content]',
  ],
  [
    'a message that can be viewed once, by its type',
    { type: 'unsupported', unsupported: { type: 'view_once' }, errors: [{ code: 131060 }] },
    '[WhatsApp: view once]\n\n[WhatsApp does not pass on its content]',
  ],
  [
    'a poll',
    { type: 'unsupported', unsupported: { type: 'poll_creation' } },
    '[WhatsApp: poll creation]\n\n[WhatsApp does not pass on its content]',
  ],
  [
    'an unsupported message without a reason',
    { type: 'unsupported' },
    '[WhatsApp: unsupported]\n\n[WhatsApp does not pass on its content]',
  ],
  ['errors only', { type: 'errors', errors: [] }, '[WhatsApp: errors]'],
  ['a list without a choice', interactive('list_reply', {}), '[WhatsApp: list reply]'],
  ['a button without a text', { type: 'button', button: {} }, '[WhatsApp: button]'],
  ['a form without fields', interactive('nfm_reply', {}), '[WhatsApp: nfm reply]'],
  ['an address message', interactive('address_message', {}), '[WhatsApp: address message]'],
  ['an interactive message of no type', { type: 'interactive' }, '[WhatsApp: interactive]'],
  ['no contacts', { type: 'contacts', contacts: [] }, '[WhatsApp: contacts]'],
  ['an image without an id', { type: 'image', image: {} }, '[WhatsApp: image]'],
  ['a sticker without an id', { type: 'sticker', sticker: null }, '[WhatsApp: sticker]'],
  ['a place that is nowhere', { type: 'location', location: {} }, '[WhatsApp: location]'],
  ['an event', { type: 'event', event: { name: 'Tea' } }, '[WhatsApp: event]\n\n[name: Tea]'],
  ['no type', { type: undefined }, '[WhatsApp: a message of an unknown kind]'],
  ['a type of another type', { type: {} }, '[WhatsApp: a message of an unknown kind]'],
  ['a long type', { type: 'x'.repeat(5000) }, `[WhatsApp: ${'x'.repeat(60)}]`],
  ['a type with a line break', { type: 'a\n[b]\u202e' }, '[WhatsApp: a [b]]'],
  [
    'many members',
    { type: 'quiz', quiz: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, n])) },
    `[WhatsApp: quiz]\n\n${Array.from({ length: 10 }, (_, n) => `[a${n}: ${n}]`).join('\n')}`,
  ],
];

function interactive(type: string, reply: Members): Members {
  return { type: 'interactive', interactive: { type, [type]: reply } };
}

const OVER_WHATSAPP = { From: 'whatsapp:+14155550123', To: 'whatsapp:+15550001111', Body: '' };

const TWILIO: readonly Kind[] = [
  [
    'an unsupported message',
    { ...OVER_WHATSAPP, MessageType: 'unsupported' },
    '[WhatsApp: unsupported]',
  ],
  ['an order', { ...OVER_WHATSAPP, MessageType: 'order' }, '[WhatsApp: order]'],
  ['a message without a type', OVER_WHATSAPP, '[WhatsApp: a message of an unknown kind]'],
  ['RCS', { ...OVER_WHATSAPP, From: 'rcs:+14155550123' }, '[RCS: a message of an unknown kind]'],
  ['a type by SMS', { Body: '', MessageType: 'card' }, '[SMS: card]'],
  [
    'a group',
    { OtherRecipients0: '+14155550111', OtherRecipients1: '+14155550112' },
    'Where is my order?\n\n[Sent to a group, also to +14155550111, +14155550112]',
  ],
  [
    'a group in one parameter',
    { OtherRecipients: ['+14155550111', '+14155550112', ' '] },
    'Where is my order?\n\n[Sent to a group, also to +14155550111, +14155550112]',
  ],
];

const TELNYX: readonly Kind[] = [
  ['an MMS with only a subject', { type: 'MMS', subject: 'Broken lamp', text: '' }, 'Broken lamp'],
  ['an MMS with nothing', { type: 'MMS', text: '' }, '[Telnyx: MMS]'],
  ['a type of later years', { type: 'SMELL_O_VISION', text: '' }, '[Telnyx: SMELL O VISION]'],
  ['WhatsApp', { type: 'WHATSAPP', text: '', body: { type: 'text', text: { body: 'hi' } } }, 'hi'],
  [
    'WhatsApp, a permission to call',
    { type: 'WHATSAPP', body: interactive('call_permission_reply', { response: 'accept' }) },
    '[WhatsApp: call permission reply]\n\n[response: accept]',
  ],
  ['WhatsApp without a body', { type: 'WHATSAPP' }, '[WhatsApp: a message of an unknown kind]'],
  ['RCS', { type: 'RCS', text: undefined, body: { text: 'hi' } }, 'hi'],
  [
    'RCS, a suggestion',
    {
      type: 'RCS',
      text: '',
      body: { suggestion_response: { text: 'Track it', postback_data: 'x' } },
    },
    'Track it',
  ],
  [
    'RCS, a place',
    { type: 'RCS', text: '', body: { location: { latitude: 1.5, longitude: 2 } } },
    'Location: 1.5,2\nhttps://www.google.com/maps?q=1.5,2',
  ],
  [
    'RCS of a kind that nobody knows',
    { type: 'RCS', text: '', body: { user_status: { is: 'typing' } } },
    '[RCS: user status]\n\n[user_status / is: typing]',
  ],
  ['RCS without a body', { type: 'RCS', text: '' }, '[RCS: a message of an unknown kind]'],
];

/** The content that the platform gets, media aside. */
function read(contents: WebhookContent | undefined, texts: ProviderTexts): string {
  if (contents?.kind !== 'message') throw new Error('not a message');
  const { meta, raw, from, to } = contents.text;
  return contentOf(texts.read({ ...meta, from, to }, raw));
}

function first(webhook: typeof twilioWebhook | typeof telnyxWebhook, type: string, body: string) {
  const headers = { 'content-type': type };
  const { contents } = webhook.read({ headers, body: Buffer.from(body), url: 'https://x', now: 0 });
  return typeof contents === 'function' ? undefined : contents[0];
}

const FORM = 'application/x-www-form-urlencoded';

describe('a message without words says which kind it is', () => {
  test.each(META)('Meta: %s', (_label, given, content) => {
    const event = messageEvent({ text: undefined, ...given });
    expect(read(readEvent(Buffer.from(event))[0], whatsappTexts)).toBe(content);
  });

  test.each(TWILIO)('Twilio: %s', (_label, given, content) => {
    // The rows have texts only.
    const form = encodeForm(inboundForm(given as Parameters<typeof inboundForm>[0]));
    expect(read(first(twilioWebhook, FORM, form), twilioTexts)).toBe(content);
  });

  test.each(TELNYX)('Telnyx: %s', (_label, given, content) => {
    const event = telnyxEvent(inboundPayload(given));
    expect(read(first(telnyxWebhook, 'application/json', event), telnyxTexts)).toBe(content);
  });

  test('in none of these is the line for an empty text all there is', () => {
    const all = [...META, ...TWILIO, ...TELNYX];
    expect(all.length).toBeGreaterThanOrEqual(30);
    expect(all.filter(([, , content]) => content === NO_TEXT)).toEqual([]);
  });
});

describe('a file that Twilio gives no URL for', () => {
  test.each([
    ['the first', { NumMedia: '1' }, 1],
    ['the second of two', { NumMedia: '2', MediaUrl0: 'https://api.twilio.com/x' }, 2],
    ['a number that is none', { NumMedia: 'many' }, 0],
    ['more than there can be', { NumMedia: '1000000' }, 10],
  ])('is shown like one that could not be fetched: %s', (_label, given, count) => {
    const content = first(twilioWebhook, FORM, encodeForm(inboundForm({ Body: '', ...given })));
    if (content?.kind !== 'message') throw new Error('not a message');
    const { meta, raw, from, to } = content.text;
    const { media } = twilioTexts.read({ ...meta, from, to }, raw);
    expect(media).toHaveLength(count);
  });
});
