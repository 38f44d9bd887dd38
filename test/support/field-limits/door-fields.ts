import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import type { ChatClient } from '../chat-client.ts';
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
  /** A visitor who is not known yet, of an address that has done nothing yet. */
  readonly visitor: () => Promise<ChatClient>;
  readonly chatKey: string;
  readonly inboundToken: string;
  /** Of the local platform, when there is one. */
  readonly platform?: { readonly url: string; readonly shopId: string; readonly apiKey: string };
}

const TEXT_FIELDS =
  `MessageSid AccountSid MessagingServiceSid From To Body NumMedia NumSegments SmsStatus
  MediaUrl0 MediaContentType0 ProfileName WaId FromCountry FromCity ReferralHeadline ReferralBody
  Latitude Address Label ButtonText ButtonPayload ListId OptOutType ErrorCode MessageStatus`.split(
    /\s+/,
  );
/** Bounded by the body of a webhook. */
const WEBHOOK_BYTES = 60_000;
/** Bounded by a packet of the chat. */
const PACKET_BYTES = 60_000;
const REQUEST_HEADER_BYTES = 12_000;
const UPLOAD_BYTES = 64_000;

const BARE = ['', ''] as const;
const ADDRESS = ['x@x', '.@'] as const;

/** @returns the fields of texts, chat, uploads, the console and the platform */
export function doorFields(doors: Doors): readonly Field[] {
  return [
    ...TEXT_FIELDS.map((name): Field => ({
      ...{ door: 'texts', name, maxBytes: WEBHOOK_BYTES, frames: [BARE, ['+1', 'x']] },
      send: (value) => postText(doors, { [name]: value }),
    })),
    ...chatFields(doors),
    ...httpFields(doors),
    ...platformFields(doors),
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
}

function chatFields({ visitor, chatKey, httpUrl }: Doors): readonly Field[] {
  const once = async (use: (chat: ChatClient) => Promise<unknown>): Promise<void> => {
    const chat = await visitor();
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
  const id = () => crypto.randomUUID();
  const upload = (name: string, frames: Field['frames'], send: Field['send']): Field => ({
    ...{ door: 'chat', name, maxBytes: UPLOAD_BYTES, frames, send },
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
    event('history before', (before) => ({ before })),
    event('unknown', (value) => ({ [value.slice(0, 1000)]: value })),
    upload('upload head', [BARE, ['<!DOCTYPE ', ''], ['<?xml ', '']], (value) =>
      once((chat) =>
        read(chat.upload({ name: 'a.txt', bytes: Buffer.from(value), type: 'text/plain' })),
      ),
    ),
    upload('upload name', [BARE, ['a', 'b']], (value) => {
      const name = value.slice(0, REQUEST_HEADER_BYTES);
      return once((chat) =>
        read(chat.upload({ name, bytes: Buffer.from('Hello'), type: 'text/plain' })),
      );
    }),
    upload('upload type', [BARE, ['text/', '']], (value) => {
      const type = value.slice(0, REQUEST_HEADER_BYTES);
      return once((chat) =>
        read(chat.upload({ name: 'a.txt', bytes: Buffer.from('Hello'), type })),
      );
    }),
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
    header('accept-language', `${httpUrl}/demo`, ['', 'de;q=']),
    header('traceparent', `${httpUrl}/healthz`, ['', '00-']),
    login('password', (password) => ({ password })),
    login('name', (operator) => ({ operator, password: 'x' })),
    {
      ...{ door: 'http', name: 'inbound to', maxBytes: REQUEST_HEADER_BYTES / 3 },
      frames: [BARE, ['a@', '.example']],
      send: (value) =>
        read(
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

function platformFields({ platform }: Doors): readonly Field[] {
  if (platform === undefined) return [];
  const field = (name: string, bodyOf: (value: string) => object): Field => ({
    ...{ door: 'platform', name, maxBytes: PACKET_BYTES, frames: [BARE, ADDRESS] },
    send: (value) =>
      read(
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

async function read(answer: Promise<Response>): Promise<void> {
  const response = await answer.catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
}
