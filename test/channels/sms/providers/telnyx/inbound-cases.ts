// Longer than usual: a table, one row for each kind of request that Telnyx may make.
import {
  ANOTHER_KEY,
  type Members,
  outboundPayload,
  TELNYX_NUMBER,
  telnyxSignature,
  timestampOf,
} from '../../../../support/telnyx-stand-in.ts';
import type { StandInAnswer } from '../../../../support/twilio-stand-in.ts';

/** Our numbers: which one a row writes to decides about the shop. */
export const SHORT_CODE = '54321'; // optOut: none
const NOBODYS_NUMBER = '+15550009999';

/** What the media hosts of the rows resolve to. */
export const RESOLVED: Readonly<Record<string, string>> = {
  'media.telnyx.com': '169.254.169.254',
  'us-central-1.telnyxcloudstorage.com': '10.0.0.5',
};

/** One medium: its type, and the answers to requests for it one after the other. */
export interface Medium {
  readonly type: unknown;
  /** In place of a URL of the stand-in. */
  readonly url?: string;
  readonly answers?: readonly StandInAnswer[];
}

/** What differs from a plain text's request. */
export interface Payload {
  readonly content?: string;
  readonly contact?: { readonly phone?: string; readonly name?: string };
  readonly agentContact?: string;
  readonly files?: readonly string[];
  /** In place of the time of the receipt. */
  readonly timestamp?: string;
}

export type Outcome =
  | 'no entry'
  | { readonly delivered: Payload }
  | { readonly held: string }
  | { readonly suppressed: string; readonly event?: string };

type Headers = Readonly<Record<string, string>>;

export interface InboundCase {
  readonly label: string;
  /** Changes to the documented payload, whose person and id are the row's own. */
  readonly payload?: Members;
  readonly type?: string;
  /** In place of the whole body, with a valid signature. */
  readonly body?: string;
  /** In place of the headers of a signed request. */
  readonly headers?: (body: string) => Headers;
  readonly method?: string;
  readonly before?: readonly string[];
  readonly media?: readonly Medium[];
  readonly times?: number;
  readonly spool?: 'closed';
  readonly answer: { readonly status: number; readonly body: string };
  readonly outcome: Outcome;
}

type Result = Pick<InboundCase, 'answer' | 'outcome'>;

const ACCEPTED = { status: 200, body: '{}' };
const delivered = (payload: Payload = {}): Result => ({
  answer: ACCEPTED,
  outcome: { delivered: payload },
});
const held = (reason: string): Result => ({ answer: ACCEPTED, outcome: { held: reason } });
const suppressed = (reason: string, event?: string): Result => ({
  answer: ACCEPTED,
  outcome: { suppressed: reason, ...(event !== undefined && { event }) },
});
const noted: Result = { answer: { status: 204, body: '' }, outcome: 'no entry' };
const refused = (status: number, text: string): Result => ({
  answer: { status, body: `${text}\n` },
  outcome: 'no entry',
});
const notAnEvent = refused(400, "Not an event of Telnyx's webhook API version 2");
const malformed = (name: string): Result =>
  refused(400, `payload.${name} must be given, in Telnyx's format`);
const unsigned = refused(403, 'The signature does not match');

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Headers with a signature of the body at a time, by our key or another. */
const signedAt =
  (agoSeconds: number, key?: Parameters<typeof telnyxSignature>[2]) =>
  (body: string): Headers => {
    const timestamp = timestampOf(agoSeconds);
    return {
      ...JSON_TYPE,
      'telnyx-timestamp': timestamp,
      'telnyx-signature-ed25519': telnyxSignature(body, timestamp, key),
    };
  };
const withSignature = (signature: string) => (): Headers => ({
  ...JSON_TYPE,
  'telnyx-timestamp': timestampOf(),
  'telnyx-signature-ed25519': signature,
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const picture: StandInAnswer = { status: 200, body: PNG };
const jpeg = (...answers: readonly StandInAnswer[]): Medium => ({ type: 'image/jpeg', answers });
const elsewhere = (url: string): Medium => ({ type: 'image/jpeg', url });
const lost = (type = 'image/jpeg'): string => `[attachment could not be retrieved: ${type}]`;
const TEXT = 'Where is my order?';
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `image-${n + 1}.png`);
const to = (...numbers: readonly string[]) => numbers.map((phone_number) => ({ phone_number }));

const agoHours = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const YESTERDAY = agoHours(26);

const TEXTS: readonly InboundCase[] = [
  {
    label: 'a text of yesterday',
    payload: { received_at: YESTERDAY },
    ...delivered({ timestamp: YESTERDAY }),
  },
  { label: 'a time in an hour', payload: { received_at: agoHours(-1) }, ...delivered() },
  ...['', 'soon', '2026', null, 7, '9'.repeat(300), undefined].map((received_at) => ({
    label: `a time that is none: ${String(received_at).slice(0, 20)}`,
    payload: { received_at },
    ...delivered(),
  })),
  { label: 'a text, as documented', ...delivered() },
  {
    label: 'with members that are not documented',
    payload: { autoresponse_type: null, is_spam: false, health: { x: [1] } },
    ...delivered(),
  },
  {
    label: 'a long text in eleven parts',
    payload: { text: 'word '.repeat(330).trim(), parts: 11 },
    ...delivered({ content: 'word '.repeat(330).trim() }),
  },
  {
    label: 'a text in Unicode',
    payload: { text: 'Здравей 👩‍👩‍👧 你好', encoding: 'UCS-2' },
    ...delivered({ content: 'Здравей 👩‍👩‍👧 你好' }),
  },
  {
    label: 'line breaks and tabs',
    payload: { text: 'one\r\n\ttwo\n' },
    ...delivered({ content: 'one\r\n\ttwo\n' }),
  },
  {
    label: 'NUL and other controls',
    payload: { text: 'a\u0000b\u001b[31mc' },
    ...delivered({ content: 'ab[31mc' }),
  },
  {
    label: 'half of a surrogate pair',
    payload: { text: 'a\ud83d!' },
    ...delivered({ content: 'a\ufffd!' }),
  },
  { label: 'an empty text', payload: { text: '' }, ...delivered({ content: '(no text)' }) },
  { label: 'a text of spaces', payload: { text: ' \n' }, ...delivered({ content: '(no text)' }) },
  { label: 'a text that is null', payload: { text: null }, ...delivered({ content: '(no text)' }) },
  { label: 'no text', payload: { text: undefined }, ...delivered({ content: '(no text)' }) },
  {
    label: 'a text of another type',
    payload: { text: { body: 'x' } },
    ...delivered({ content: '(no text)' }),
  },
  {
    label: 'numbers without their object, as in detail records',
    payload: { to: [TELNYX_NUMBER] },
    ...delivered(),
  },
  { label: 'no cc', payload: { cc: undefined }, ...delivered() },
  { label: 'a cc of another type', payload: { cc: 'nobody' }, ...delivered() },
  { label: 'no direction', payload: { direction: undefined }, ...delivered() },
  {
    label: 'to a short code of ours',
    payload: { to: to(SHORT_CODE) },
    ...delivered({ agentContact: SHORT_CODE }),
  },
  {
    label: 'from a short code',
    payload: { from: { phone_number: '72975' } },
    ...held('short_code'),
  },
];

const MEDIA: readonly InboundCase[] = [
  { label: 'an MMS with a picture', media: [jpeg(picture)], ...delivered({ files: numbered(1) }) },
  {
    label: 'several media',
    media: [jpeg(picture), { type: 'text/vcard', answers: [{ status: 200, body: 'BEGIN:VCARD' }] }],
    ...delivered({ files: ['image-1.png', 'file-2.vcf'] }),
  },
  {
    label: 'a subject',
    payload: { subject: 'From my holiday\u202e!' },
    media: [jpeg(picture)],
    ...delivered({ content: `${TEXT}\n\n[Subject: From my holiday!]`, files: numbered(1) }),
  },
  {
    label: 'more media than a message can have',
    media: Array.from({ length: 12 }, () => jpeg(picture)),
    ...delivered({ files: numbered(10) }),
  },
  {
    label: 'a medium without a declared type',
    media: [{ type: null, answers: [picture] }],
    ...delivered({ files: numbered(1) }),
  },
  { label: 'media that are null', payload: { media: null }, ...delivered() },
  { label: 'media of another type', payload: { media: 'none' }, ...delivered() },
  { label: 'media without a URL', payload: { media: [{}, 7, null] }, ...delivered() },
  {
    label: 'a redirect within the host',
    media: [jpeg({ status: 302, headers: { Location: '/moved' } })],
    ...delivered({ content: TEXT, files: numbered(1) }),
  },
  {
    label: 'a redirect to another host',
    media: [jpeg({ status: 302, headers: { Location: 'https://evil.example/x' } })],
    ...delivered({ content: `${TEXT}\n\n${lost()}` }),
  },
  {
    label: 'a host of Telnyx with a private address',
    media: [elsewhere('https://media.telnyx.com/abc123/image.jpg')],
    ...delivered({ content: `${TEXT}\n\n${lost()}` }),
  },
  {
    label: "a host of Telnyx's storage with a private address",
    media: [elsewhere('https://us-central-1.telnyxcloudstorage.com/mms/x.jpg?sig=1')],
    ...delivered({ content: `${TEXT}\n\n${lost()}` }),
  },
  ...[
    ['a host of somebody else', 'https://files.example/x.jpg'],
    ['a host that ends alike', 'https://media.telnyx.com.evil.example/x.jpg'],
    ['a host that ends alike without a dot', 'https://eviltelnyx.com/x.jpg'],
    ['a host of Telnyx without TLS', 'http://media.telnyx.com/x.jpg'],
    ['a host of Telnyx at another port', 'https://media.telnyx.com:8443/x.jpg'],
    ['a host of Telnyx with a user', 'https://u:p@media.telnyx.com/x.jpg'],
    ['no URL', 'image.jpg'],
    ['a file', 'file:///etc/passwd'],
  ].map(([label = '', url = '']): InboundCase => ({
    label: `a medium at ${label}`,
    media: [elsewhere(url)],
    ...delivered({ content: `${TEXT}\n\n${lost()}` }),
  })),
];

const GROUPS: readonly InboundCase[] = [
  {
    label: 'a group by cc',
    payload: { type: 'MMS', cc: to('+14155550111', '+14155550112') },
    ...delivered({
      content: `${TEXT}\n\n[Sent to a group, also to +14155550111, +14155550112]`,
    }),
  },
  {
    label: 'a group in which our number is second',
    payload: { type: 'MMS', to: to('+14155550111', TELNYX_NUMBER) },
    ...delivered({ content: `${TEXT}\n\n[Sent to a group, also to +14155550111]` }),
  },
  {
    label: 'a group in which only the cc has our number',
    payload: { type: 'MMS', to: to('+14155550111'), cc: to(TELNYX_NUMBER) },
    ...delivered({ content: `${TEXT}\n\n[Sent to a group, also to +14155550111]` }),
  },
  {
    label: 'a recipient that cannot be read among others',
    payload: { to: [null, { phone_number: 7 }, ...to(TELNYX_NUMBER)] },
    ...delivered(),
  },
];

const KEYWORDS: readonly InboundCase[] = [
  {
    label: 'STOP that Telnyx answered',
    payload: { text: 'Please stop', autoresponse_type: 'STOP' },
    ...suppressed('opt_out', 'SMS opt-out'),
  },
  ...['STOP', 'stopall', 'Stop All', 'UNSUBSCRIBE', 'cancel', 'END', 'quit'].map(
    (text): InboundCase => ({
      label: `${text} without a word of Telnyx`,
      payload: { text },
      ...suppressed('opt_out', 'SMS opt-out'),
    }),
  ),
  {
    label: 'START after STOP',
    before: ['STOP'],
    payload: { text: 'start', autoresponse_type: null },
    ...suppressed('opt_in', 'SMS opt-in'),
  },
  {
    label: 'START that Telnyx answered',
    payload: { text: 'JOIN', autoresponse_type: 'START' },
    ...suppressed('opt_in', 'SMS opt-in'),
  },
  { label: 'START of somebody in', payload: { text: 'START' }, ...delivered({ content: 'START' }) },
  {
    label: 'HELP that Telnyx answered',
    payload: { text: 'HELP', autoresponse_type: 'HELP' },
    ...suppressed('help_keyword'),
  },
  ...['HELP', 'REVOKE', 'YES', 'STOP.', 'Stop it'].map((text): InboundCase => ({
    label: `${text}, which Telnyx does not answer`,
    payload: { text },
    ...delivered({ content: text }),
  })),
  {
    label: 'STOP to a number whose keywords Telnyx does not handle',
    payload: { text: 'STOP', to: to(SHORT_CODE) },
    ...delivered({ content: 'STOP', agentContact: SHORT_CODE }),
  },
];

const MALFORMED: readonly InboundCase[] = [
  { label: 'no id', payload: { id: undefined }, ...malformed('id') },
  { label: 'an empty id', payload: { id: '' }, ...malformed('id') },
  { label: 'an id of another type', payload: { id: 7 }, ...malformed('id') },
  { label: 'an id with a slash', payload: { id: '../messages' }, ...malformed('id') },
  { label: 'no from', payload: { from: undefined }, ...malformed('from') },
  { label: 'a from without a number', payload: { from: {} }, ...malformed('from') },
  { label: 'an empty from', payload: { from: { phone_number: '' } }, ...malformed('from') },
  {
    label: 'a from with a NUL',
    payload: { from: { phone_number: '+1415\u0000' } },
    ...malformed('from'),
  },
  { label: 'no to', payload: { to: undefined }, ...malformed('to') },
  { label: 'an empty to', payload: { to: [] }, ...malformed('to') },
  { label: 'a to of another type', payload: { to: TELNYX_NUMBER }, ...malformed('to') },
  { label: 'no payload', body: '{"data":{"event_type":"message.received"}}', ...notAnEvent },
  {
    label: 'a payload that is a list',
    body: '{"data":{"event_type":"message.received","payload":[]}}',
    ...notAnEvent,
  },
  { label: 'no data', body: '{}', ...notAnEvent },
  { label: 'a list', body: '[]', ...notAnEvent },
  { label: 'no JSON', body: 'sms_id=1', ...notAnEvent },
  { label: 'an empty body', body: '', ...notAnEvent },
  { label: 'JSON that nests too deep', body: '['.repeat(60_000), ...notAnEvent },
  {
    label: 'an event of version 1',
    body: '{"sms_id":"1","direction":"inbound","from":"+1","to":"+1","body":"Hi"}',
    ...notAnEvent,
  },
  { label: 'a GET', method: 'GET', ...refused(405, 'Configure the webhook as HTTP POST') },
  {
    label: 'a form',
    headers: () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }),
    ...refused(415, 'Expected application/json'),
  },
  {
    label: 'a body that is too large',
    payload: { text: 'x'.repeat(70_000) },
    ...refused(413, 'The body is larger than 65536 bytes'),
  },
];

const EVENTS: readonly InboundCase[] = [
  { label: 'an unknown event of messages', type: 'message.pondered', ...noted },
  {
    label: 'one of our own messages as received',
    payload: outboundPayload(),
    ...noted,
  },
  {
    label: 'a status that is not signed',
    type: 'message.finalized',
    payload: outboundPayload(),
    headers: () => JSON_TYPE,
    ...unsigned,
  },
];

const SIGNATURES: readonly InboundCase[] = [
  { label: 'signed four minutes ago', headers: signedAt(240), ...delivered() },
  { label: 'signed by a clock four minutes ahead', headers: signedAt(-240), ...delivered() },
  { label: 'signed six minutes ago', headers: signedAt(360), ...unsigned },
  { label: 'signed by a clock six minutes ahead', headers: signedAt(-360), ...unsigned },
  { label: 'signed with another key', headers: signedAt(0, ANOTHER_KEY), ...unsigned },
  {
    label: 'the signature of another body',
    headers: (body) => signedAt(0)(`${body} `),
    ...unsigned,
  },
  {
    label: 'the signature of another time',
    headers: (body) => ({ ...signedAt(9)(body), 'telnyx-timestamp': timestampOf(8) }),
    ...unsigned,
  },
  { label: 'no signature and no time', headers: () => JSON_TYPE, ...unsigned },
  {
    label: 'no signature',
    headers: () => ({ ...JSON_TYPE, 'telnyx-timestamp': timestampOf() }),
    ...unsigned,
  },
  {
    label: 'no time',
    headers: (body) => {
      const { 'telnyx-timestamp': _time, ...rest } = signedAt(0)(body);
      return rest;
    },
    ...unsigned,
  },
  {
    label: 'a time that is no number',
    headers: (body) => ({
      ...JSON_TYPE,
      'telnyx-timestamp': 'now',
      'telnyx-signature-ed25519': telnyxSignature(body, 'now'),
    }),
    ...unsigned,
  },
  { label: 'a signature that is no base64', headers: withSignature('!!!'), ...unsigned },
  { label: 'an empty signature', headers: withSignature(''), ...unsigned },
  {
    label: 'a signature of zeros',
    headers: withSignature(Buffer.alloc(64).toString('base64')),
    ...unsigned,
  },
  {
    label: 'a number that no shop has',
    payload: { to: to(NOBODYS_NUMBER) },
    ...refused(403, 'No shop has this account and number'),
  },
  {
    label: 'a number that no shop has, unsigned',
    payload: { to: to(NOBODYS_NUMBER) },
    headers: () => JSON_TYPE,
    ...unsigned,
  },
];

const DURABILITY: readonly InboundCase[] = [
  { label: 'ten deliveries at once', times: 10, ...delivered() },
  { label: 'while the spool is closed', spool: 'closed', ...refused(503, 'Try again later') },
];

export const CASES: readonly InboundCase[] = [
  ...TEXTS,
  ...MEDIA,
  ...GROUPS,
  ...KEYWORDS,
  ...MALFORMED,
  ...EVENTS,
  ...SIGNATURES,
  ...DURABILITY,
];
export { picture as PICTURE };
