import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { ChatClient } from '../chat-client.ts';
import {
  API_KEY,
  inboundPayload,
  postEvent as postTelnyx,
  PUBLIC_KEY,
  TELNYX_NUMBER,
  telnyxEvent,
  telnyxId,
} from '../telnyx-stand-in.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  contactOf,
  messageEvent,
  PHONE_NUMBER_ID,
  postEvent as postWhatsApp,
  VERIFY_TOKEN,
  wamid,
  WHATSAPP_NUMBER,
} from '../whatsapp-stand-in.ts';
import type { Field } from './field.ts';

export interface Doors {
  readonly httpUrl: string;
  readonly adminUrl: string;
  readonly publicUrl: string;
  readonly twilio: {
    readonly accountSid: string;
    readonly authToken: string;
    readonly number: string;
  };
  readonly chatKey: string;
  readonly inboundToken: string;
}

const TEXT_FIELDS =
  `MessageSid AccountSid MessagingServiceSid From To Body NumMedia NumSegments SmsStatus
  MediaUrl0 MediaContentType0 ProfileName WaId FromCountry FromCity ReferralHeadline ReferralBody
  Latitude Address Label ButtonText ButtonPayload ListId OptOutType ErrorCode MessageStatus`.split(
    /\s+/,
  );
const TELNYX_FIELDS = ['id', 'type', 'messaging_profile_id', 'text', 'subject', 'received_at'];
const WHATSAPP_FIELDS = ['from', 'id', 'timestamp', 'type'];
/** Bounded by the body of a webhook. */
const WEBHOOK_BYTES = 60_000;
/** Bounded by a packet of the chat. */
const PACKET_BYTES = 60_000;
const REQUEST_HEADER_BYTES = 12_000;
const UPLOAD_BYTES = 64_000;

const BARE = ['', ''] as const;
const ADDRESS = ['x@x', '.@'] as const;

/**
 * @returns the fields of texts, chat, uploads and the console of a gateway that has `OTHER_SHOPS`, too, and
 * trusts a proxy on this machine
 */
export function doorFields(doors: Doors): readonly Field[] {
  return [
    ...TEXT_FIELDS.map((name): Field => ({
      ...{ door: 'texts', name, maxBytes: WEBHOOK_BYTES, frames: [BARE, ['+1', 'x']] },
      send: (value) => postText(doors, { [name]: value }),
    })),
    ...telnyxFields(doors),
    ...whatsappFields(doors),
    ...chatFields(doors),
    ...httpFields(doors),
  ];
}

async function postText(doors: Doors, changed: Readonly<Record<string, string>>): Promise<void> {
  const { accountSid, authToken, number } = doors.twilio;
  const parameters: Record<string, string> = {
    MessageSid: `SM${crypto.randomUUID().replaceAll('-', '')}`,
    ...{ AccountSid: accountSid, From: '+13035551000', To: number, Body: 'Hello', NumMedia: '0' },
    ...changed,
  };
  const signed = `${doors.publicUrl}/sms/twilio`;
  const answer = await fetch(`${doors.httpUrl}/sms/twilio`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': getExpectedTwilioSignature(authToken, signed, parameters),
    },
    body: new URLSearchParams(parameters).toString(),
  });
  await answer.arrayBuffer();
  assertKnown(answer);
}

/** A refusal of the sender would hide what the value costs. */
function assertKnown({ status }: { readonly status: number }): void {
  if ([401, 403, 404].includes(status)) throw new Error(`the door knows nobody: ${status}`);
}

const NO_API = 'http://127.0.0.1:9';

/** In the configuration: a shop for each other provider of texts. */
export const OTHER_SHOPS = [
  {
    ...{ name: 'of-telnyx', shopId: '00000000-0000-4000-8000-0000000000f1', apiKey: 'f1' },
    sms: {
      numbers: [TELNYX_NUMBER],
      telnyx: { apiKey: API_KEY, publicKey: PUBLIC_KEY, baseUrl: NO_API },
    },
  },
  {
    ...{ name: 'of-whatsapp', shopId: '00000000-0000-4000-8000-0000000000f2', apiKey: 'f2' },
    sms: {
      numbers: [WHATSAPP_NUMBER],
      whatsappCloud: {
        ...{ phoneNumberIds: [PHONE_NUMBER_ID], accessToken: ACCESS_TOKEN, baseUrl: NO_API },
        ...{ appSecrets: [APP_SECRET], verifyToken: VERIFY_TOKEN },
      },
    },
  },
];

let events = 0;

function telnyxFields({ httpUrl }: Doors): readonly Field[] {
  const field = (name: string, changesOf: (value: string) => object): Field => ({
    ...{ door: 'texts', name: `telnyx ${name}`, maxBytes: WEBHOOK_BYTES, frames: [BARE] },
    send: async (value) => {
      events += 1;
      const changes = { id: telnyxId(events), ...changesOf(value) };
      assertKnown(await postTelnyx(httpUrl, telnyxEvent(inboundPayload(changes))));
    },
  });
  const media = (medium: object) => ({ media: [{ url: 'http://127.0.0.1:9/a', ...medium }] });
  return [
    ...TELNYX_FIELDS.map((name) => field(name, (value) => ({ [name]: value }))),
    field('from', (value) => ({ from: { phone_number: value } })),
    field('to', (value) => ({ to: [{ phone_number: TELNYX_NUMBER }, { phone_number: value }] })),
    field('media url', (url) => media({ url })),
    field('media type', (content_type) => media({ content_type })),
  ];
}

function whatsappFields({ httpUrl }: Doors): readonly Field[] {
  const field = (name: string, eventOf: (value: string, id: string) => string): Field => ({
    ...{ door: 'texts', name: `whatsapp ${name}`, maxBytes: WEBHOOK_BYTES, frames: [BARE] },
    send: async (value) => {
      events += 1;
      assertKnown(await postWhatsApp(httpUrl, eventOf(value, wamid(events))));
    },
  });
  const contacts = (field: string) => [{ name: { [field]: 'Ann' }, phones: [{ phone: '1' }] }];
  return [
    ...WHATSAPP_FIELDS.map((name) =>
      field(name, (value, id) => messageEvent({ id, [name]: value })),
    ),
    field('text', (body, id) => messageEvent({ id, text: { body } })),
    field('profile', (name, id) => messageEvent({ id }, contactOf('16505551234', { name }))),
    field('file name', (filename, id) =>
      messageEvent({ id, type: 'document', document: { id: '1', filename } }),
    ),
    field('mime type', (mime_type, id) =>
      messageEvent({ id, type: 'image', image: { id: '1', mime_type } }),
    ),
    field('place', (name, id) =>
      messageEvent({ id, type: 'location', location: { latitude: 1, longitude: 2, name } }),
    ),
    field('button', (text, id) =>
      messageEvent({ id, type: 'button', button: { text, payload: text } }),
    ),
    field('contacts', (value, id) =>
      messageEvent({ id, type: 'contacts', contacts: contacts(value.slice(0, 1000)) }),
    ),
  ];
}

let visitors = 0;

/** A visitor who is not known yet, of an address that has done nothing yet. */
function connect({ httpUrl, chatKey }: Doors, more?: object): Promise<ChatClient> {
  visitors += 1;
  const forwardedFor = `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`;
  return ChatClient.connect({
    ...{ url: httpUrl, auth: { key: chatKey, ...more }, forwardedFor },
    // A connection that the door ends before the handshake tells the client nothing.
    ...(more && { connectTimeoutMs: 1000 }),
  });
}

function chatFields(doors: Doors): readonly Field[] {
  const { chatKey, httpUrl } = doors;
  const once = async (use: (chat: ChatClient) => Promise<unknown>): Promise<void> => {
    const chat = await connect(doors);
    // A packet that ends the connection is an answer, too.
    await use(chat).catch(() => undefined);
    chat.close();
  };
  const event = (name: string, requestOf: (value: string) => unknown): Field => ({
    ...{ door: 'chat', name, maxBytes: PACKET_BYTES, frames: [BARE, ADDRESS] },
    send: (value) =>
      once((chat) => {
        const ended = new Promise((resolve) => chat.socket.once('disconnect', resolve));
        return Promise.race([chat.request(name.split(' ')[0] ?? '', requestOf(value)), ended]);
      }),
  });
  const handshake = (name: string): Field => ({
    ...{ door: 'chat', name: `handshake ${name}`, maxBytes: PACKET_BYTES },
    frames: [BARE, ['a.', '.a']],
    send: async (value) => {
      const chat = await connect(doors, { [name]: value }).catch(() => undefined);
      chat?.close();
    },
  });
  const id = () => crypto.randomUUID();
  const upload = (name: string, frames: Field['frames'], send: Field['send']): Field => ({
    ...{ door: 'chat', name, maxBytes: UPLOAD_BYTES, frames, send },
  });
  // What is encoded there has less room.
  const inHeader = (name: string, frames: Field['frames'], send: Field['send']): Field => ({
    ...{ door: 'chat', name, maxBytes: REQUEST_HEADER_BYTES, frames },
    send: (value) => {
      const times = encodeURIComponent(value.toWellFormed()).length / REQUEST_HEADER_BYTES;
      return send(times <= 1 ? value : value.slice(0, value.length / times) + value.slice(-1));
    },
  });
  return [
    event('message text', (text) => ({ id: id(), text })),
    event('message id', (value) => ({ id: value, text: 'Hello' })),
    event('message page.url', (url) => ({ id: id(), text: 'Hello', page: { url } })),
    event('message page.title', (title) => ({
      ...{ id: id(), text: 'Hello', page: { url: 'https://x.example', title } },
    })),
    event('message uploads', (value) => ({ id: id(), text: 'Hello', uploads: [value] })),
    event('profile name', (name) => ({ name })),
    event('profile email', (email) => ({ email })),
    event('profile language', (language) => ({ email: 'a@x.example', notify: { language } })),
    event('rate comment', (comment) => ({ value: 5, comment })),
    event('rate value', (value) => ({ value })),
    event('seen seq', (seq) => ({ seq })),
    event('history before', (before) => ({ before })),
    ...['key', 'token', 'identity', 'lastSeq'].map(handshake),
    event('unknown', (value) => ({ [value.slice(0, 1000)]: value })),
    upload('upload head', [BARE, ['<!DOCTYPE ', ''], ['<?xml ', '']], (value) =>
      once((chat) =>
        read(chat.upload({ name: 'a.txt', bytes: Buffer.from(value), type: 'text/plain' })),
      ),
    ),
    inHeader('upload name', [BARE, ['a', 'b']], (name) =>
      once((chat) => read(chat.upload({ name, bytes: Buffer.from('Hello'), type: 'text/plain' }))),
    ),
    inHeader('upload type', [BARE, ['text/', '']], (type) =>
      once((chat) => read(chat.upload({ name: 'a.txt', bytes: Buffer.from('Hello'), type }))),
    ),
    get('widget language', httpUrl, (value) => `/widget/texts/${chatKey}/${value}`),
  ];
}

function httpFields({ httpUrl, adminUrl, inboundToken }: Doors): readonly Field[] {
  const login = (name: string, requestOf: (value: string) => object): Field => ({
    ...{ door: 'admin', name, maxBytes: PACKET_BYTES, frames: [BARE] },
    send: (value) =>
      read(
        fetch(`${adminUrl}/api/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: adminUrl },
          body: JSON.stringify(requestOf(value)),
        }),
      ),
  });
  return [
    get('path', httpUrl, (value) => `/${value}`),
    get('query', httpUrl, (value) => `/widget/config/acme?${value}`),
    header('authorization', `${adminUrl}/api/status`, ['Basic ', 'Bearer ']),
    header('cookie', `${adminUrl}/api/status`, ['sluice=']),
    header('x-forwarded-for', `${httpUrl}/healthz`, ['', '192.0.2.1, ']),
    header('traceparent', `${httpUrl}/healthz`, ['', '00-']),
    login('password', (password) => ({ password })),
    login('name', (operator) => ({ operator, password: 'x' })),
    {
      ...{ door: 'http', name: 'inbound to', maxBytes: REQUEST_HEADER_BYTES / 3 },
      frames: [BARE, ['a@', '.example']],
      send: (value) =>
        readKnown(
          fetch(`${httpUrl}/email/inbound?from=a@x.example&to=${encodeURIComponent(value)}`, {
            method: 'POST',
            headers: {
              'content-type': 'message/rfc822',
              authorization: `Bearer ${inboundToken}`,
            },
            body: 'From: a@x.example\r\n\r\nHello',
          }),
        ),
    },
  ];
}

/** A request that needs no body; what `fetch` cannot send is sent as it can be. */
function get(name: string, url: string, pathOf: (value: string) => string): Field {
  return {
    ...{ door: 'http', name, maxBytes: REQUEST_HEADER_BYTES / 3, frames: [BARE] },
    send: (value) => read(fetch(url + pathOf(encodeURI(value.toWellFormed())))),
  };
}

function header(name: string, url: string, before: readonly string[]): Field {
  return {
    ...{ door: 'http', name: `header ${name}`, maxBytes: REQUEST_HEADER_BYTES },
    frames: before.map((start) => [start, ''] as const),
    send: async (value) => {
      const bytes = value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
      await read(fetch(url, { headers: { [name]: bytes } }));
    },
  };
}

/** @returns the fields of create message at the local platform */
export function platformFields(platform: {
  readonly url: string;
  readonly shopId: string;
  readonly apiKey: string;
}): readonly Field[] {
  const field = (name: string, bodyOf: (value: string) => object): Field => ({
    ...{ door: 'platform', name, maxBytes: PACKET_BYTES, frames: [BARE, ADDRESS] },
    send: (value) =>
      readKnown(
        fetch(`${platform.url}/v2026-04/messages/`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${platform.apiKey}`,
            'x-shop-id': platform.shopId,
            'content-type': 'application/json',
          },
          body: JSON.stringify(bodyOf(value)),
        }),
      ),
  });
  const id = () => ({ remote_id: crypto.randomUUID() });
  const conversation = { direction: 'inbound', type: 'web_chat' };
  const contact = { email: 'a@x.example' };
  const message = (given: object) => ({ content: 'Hello', ...id(), ...given });
  return [
    field('content', (content) => ({ contact, conversation, message: message({ content }) })),
    field('remote_id', (remote_id) => ({ contact, conversation, message: message({ remote_id }) })),
    ...['subject', 'in_reply_to'].map((name) =>
      field(name, (value) => mailWith(message({ email: { [name]: value } }))),
    ),
    field('references', (value) => mailWith(message({ email: { references: [value] } }))),
    ...['email', 'phone', 'name'].map((name) =>
      field(`contact ${name}`, (value) => ({
        ...{ contact: { ...contact, [name]: value }, conversation, message: message({}) },
      })),
    ),
    field('agent_contact', (agent_contact) => ({
      ...{ contact, conversation: { ...conversation, type: 'email', agent_contact } },
      message: message({}),
    })),
  ];

  function mailWith(mail: object): object {
    const email = { ...conversation, type: 'email', agent_contact: 'support@acme.example' };
    return { contact, conversation: email, message: mail };
  }
}

/** Undefined if the connection was closed. */
async function read(answer: Promise<Response>): Promise<Response | undefined> {
  const response = await answer.catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response;
}

async function readKnown(answer: Promise<Response>): Promise<void> {
  const response = await read(answer);
  if (response !== undefined) assertKnown(response);
}
