// Longer than usual: a table, one row for each kind of message that Twilio may hand over.
import {
  type inboundForm,
  mediaSid,
  OUR_NUMBER,
  type StandInAnswer,
} from '../../support/twilio-stand-in.ts';

export type Changes = NonNullable<Parameters<typeof inboundForm>[0]>;

/** Our addresses: which one a row writes to decides about the shop's policy. */
export const SHORT_CODE = '54321'; // stand-alone: optOut none
export const STRICT_NUMBER = '+15550003333'; // whatsapp: hold
export const RCS_AGENT = 'acme_agent';
export const MESSAGING_SERVICE = `MG${'5'.repeat(32)}`;

/** What the media hosts of the rows resolve to. */
export const RESOLVED: Readonly<Record<string, string>> = {
  'mms.twiliocdn.com': '169.254.169.254',
  'media.twiliocdn.com': '127.0.0.1',
};

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One medium: what is declared of it, and Twilio's answers one after the other. */
export interface Medium {
  readonly type: string;
  /** In place of the URL of this message's medium. */
  readonly url?: string;
  readonly answers: readonly StandInAnswer[];
}

/** What differs from a plain text's request; everything else is compared as well. */
export interface Payload {
  readonly content?: string;
  readonly contact?: { readonly phone?: string; readonly name?: string };
  readonly agentContact?: string;
  /** The names of what was uploaded and attached. */
  readonly files?: readonly string[];
  /** The name of the event that is told besides. */
  readonly event?: string;
}

export type Outcome =
  | 'no entry'
  | { readonly delivered: Payload }
  | { readonly held: string }
  | { readonly suppressed: string; readonly event?: string };

export interface InboundCase {
  readonly label: string;
  /** Changes to `inboundForm`, whose person and SID are the row's own. */
  readonly form?: Changes;
  /** Texts of the same person to the same number before this one. */
  readonly before?: readonly string[];
  readonly media?: readonly Medium[];
  /** How often it is delivered at once. */
  readonly times?: number;
  /** In place of the signature. */
  readonly signature?: string;
  /** The parameters come as JSON, with the hash of `hashed` in the URL. */
  readonly json?: { readonly hashed: 'the body' | 'another body' | 'nothing' };
  /** In place of a signed form. */
  readonly request?: {
    readonly method?: string;
    readonly type?: string;
    readonly body?: string;
  };
  readonly spool?: 'closed';
  readonly answer: Answer;
  readonly outcome: Outcome;
}

const ACCEPTED: Answer = {
  status: 200,
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
  headers: { 'content-type': 'text/xml; charset=utf-8' },
};
const NOTED: Answer = { status: 204, body: '' };

const refused = (status: number, text: string, headers: Answer['headers'] = {}): Answer => ({
  status,
  body: `${text}\n`,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
});
const malformed = (name: string): Answer =>
  refused(400, `${name} must be given exactly once, in Twilio's format`);
const UNSIGNED = refused(403, 'The signature does not match');

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const picture: StandInAnswer = { status: 200, body: PNG };
const status = (code: number): StandInAnswer => ({ status: code });
const redirect = (Location: string): StandInAnswer => ({ status: 307, headers: { Location } });
const jpeg = (...answers: readonly StandInAnswer[]): Medium => ({ type: 'image/jpeg', answers });
const lost = (position: number, type = 'image/jpeg'): string =>
  `[attachment could not be retrieved: ${type}, ${mediaSid(position)}]`;
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `image-${n + 1}.png`);

const TEXT = 'Where is my order?';
const delivered = (payload: Payload = {}): Pick<InboundCase, 'answer' | 'outcome'> => ({
  answer: ACCEPTED,
  outcome: { delivered: payload },
});
const suppressed = (reason: string, event?: string): Pick<InboundCase, 'answer' | 'outcome'> => ({
  answer: ACCEPTED,
  outcome: { suppressed: reason, ...(event !== undefined && { event }) },
});
const held = (reason: string): Pick<InboundCase, 'answer' | 'outcome'> => ({
  answer: ACCEPTED,
  outcome: { held: reason },
});
const nothing = (answer: Answer): Pick<InboundCase, 'answer' | 'outcome'> => ({
  answer,
  outcome: 'no entry',
});

/** U+1F469 U+1F3FD U+200D U+1F680. */
const ASTRONAUT = '\u{1F469}\u{1F3FD}\u200D\u{1F680}';
const PLACE = { Body: '', Latitude: '37.7879', Longitude: '-122.391' };
const MAP = '37.7879,-122.391\nhttps://www.google.com/maps?q=37.7879,-122.391';
const ELSEWHERE = `https://evil.example/2010-04-01/Accounts/x/Messages/x/Media/${mediaSid(1)}`;

const texts: readonly InboundCase[] = [
  { label: 'a text', ...delivered({ content: TEXT }) },
  { label: 'ten deliveries of one SID at once', times: 10, ...delivered() },
  {
    label: 'an emoji of four code points',
    form: { Body: ASTRONAUT },
    ...delivered({ content: ASTRONAUT }),
  },
  {
    label: '1,600 characters',
    form: { Body: '0123456789'.repeat(160), NumSegments: '11' },
    ...delivered({ content: '0123456789'.repeat(160) }),
  },
  {
    label: 'scripts of the world',
    form: { Body: '\u00FCber \u6CE8\u6587 \u0645\u0631\u062D\u0628\u0627' },
    ...delivered({ content: '\u00FCber \u6CE8\u6587 \u0645\u0631\u062D\u0628\u0627' }),
  },
  { label: 'a NUL', form: { Body: 'a\u0000b' }, ...delivered({ content: 'ab' }) },
  { label: 'nothing but a NUL', form: { Body: '\u0000' }, ...delivered({ content: '(no text)' }) },
  {
    label: 'spaces before and after',
    form: { Body: '  my order \r\n\t' },
    ...delivered({ content: '  my order \r\n\t' }),
  },
  { label: 'only spaces', form: { Body: '   ' }, ...delivered({ content: '(no text)' }) },
  { label: 'an empty Body', form: { Body: '' }, ...delivered({ content: '(no text)' }) },
  { label: 'no Body', form: { Body: undefined }, ...delivered({ content: '(no text)' }) },
  {
    label: 'plus, percent and ampersand',
    form: { Body: '1+1=2 & 100%25' },
    ...delivered({ content: '1+1=2 & 100%25' }),
  },
  {
    label: 'markup stays text',
    form: { Body: '<b>&amp;</b> *x*' },
    ...delivered({ content: '<b>&amp;</b> *x*' }),
  },
  {
    label: 'parameters that nobody has heard of',
    form: { ChannelMetadata: '{"type":"x"}', Novel: ['a', ''] },
    ...delivered(),
  },
  {
    label: 'an empty Body and a location',
    form: PLACE,
    ...delivered({ content: `Location: ${MAP}` }),
  },
  {
    label: 'a location with name and address',
    form: { ...PLACE, Label: 'Acme Store', Address: '1 Main St' },
    ...delivered({ content: `Location: Acme Store, 1 Main St, ${MAP}` }),
  },
  {
    label: 'a location whose coordinates are none',
    form: { Body: '', Label: 'Acme Store', Latitude: '91', Longitude: 'x&q=evil' },
    ...delivered({ content: 'Location: Acme Store' }),
  },
  {
    label: 'a Body with a location',
    form: { ...PLACE, Body: 'here' },
    ...delivered({ content: 'here' }),
  },
  {
    label: 'a button',
    form: { Body: '', ButtonText: 'Track it', ButtonPayload: 'track-1' },
    ...delivered({ content: 'Track it' }),
  },
  {
    label: 'a button with the Body that WhatsApp gives it',
    form: { Body: 'Track my order', ButtonText: 'Track it' },
    ...delivered({ content: 'Track my order' }),
  },
  {
    label: 'an item of a list, without a Body',
    form: { Body: '', ListTitle: 'Large', ListId: 'size-l' },
    ...delivered({ content: 'Large (size-l)' }),
  },
  {
    label: 'an item of a list with the Body that WhatsApp gives it',
    form: { Body: 'Large', ListTitle: 'Large', ListId: 'size-l' },
    ...delivered({ content: 'Large' }),
  },
  {
    label: 'a form that was filled in',
    form: {
      Body: '',
      MessageType: 'interactive',
      InteractiveData: JSON.stringify({
        flow_token: 'secret-of-the-form',
        'order\u202E number': 'A-17\u0007',
        reasons: ['too small', 'wrong \n colour'],
        address: { city: 'Bern', floor: 2, lift: false, note: null },
      }),
    },
    ...delivered({
      content:
        'Form:\norder number: A-17\nreasons: too small\nreasons: wrong colour\n' +
        'address / city: Bern\naddress / floor: 2\naddress / lift: false',
    }),
  },
  {
    label: 'a form that is no JSON, below its Body',
    form: { Body: 'Sent', InteractiveData: 'name=Ann' },
    ...delivered({ content: 'Sent\n\nForm:\nname=Ann' }),
  },
  {
    label: 'a form as deep as it can be',
    form: { Body: '', InteractiveData: '['.repeat(9000) + ']'.repeat(9000) },
    ...delivered({ content: '(no text)' }),
  },
  {
    label: 'a button whose answer stands in InteractiveData once more',
    form: { Body: 'Track it', ButtonText: 'Track it', InteractiveData: '{"title":"Track it"}' },
    ...delivered({ content: 'Track it' }),
  },
  {
    label: 'a reply to one of our messages',
    form: {
      Body: 'This one',
      OriginalRepliedMessageSid: `SM${'d'.repeat(32)}`,
      OriginalRepliedMessageSender: `whatsapp:${OUR_NUMBER}`,
    },
    ...delivered({ content: `This one\n\n[In reply to our message SM${'d'.repeat(32)}]` }),
  },
  {
    label: 'a reply to their own message',
    form: {
      OriginalRepliedMessageSid: `MM${'d'.repeat(32)}`,
      OriginalRepliedMessageSender: 'whatsapp:+14155550100',
    },
    ...delivered({ content: `${TEXT}\n\n[In reply to their own message MM${'d'.repeat(32)}]` }),
  },
  {
    label: 'a reply to what is no message',
    form: { OriginalRepliedMessageSid: 'SM1] [Forwarded' },
    ...delivered({ content: TEXT }),
  },
  {
    label: 'a first message from an ad',
    form: {
      Body: 'Is it still there?',
      ...{ ReferralHeadline: 'Lamps\u202E', ReferralBody: 'Half price', ReferralSourceId: '7' },
      ...{ ReferralSourceUrl: 'https://fb.me/x', ReferralNumMedia: '0' },
    },
    ...delivered({
      content:
        'Is it still there?\n\n[Came from an ad: Lamps \u2013 Half price \u2013 https://fb.me/x]',
    }),
  },
  {
    label: 'an ad of which only the id is known, or a script',
    form: { ReferralSourceId: '7', ReferralSourceUrl: 'javascript:alert(1)' },
    ...delivered({ content: `${TEXT}\n\n[Came from an ad]` }),
  },
  {
    label: 'forwarded',
    form: { Forwarded: 'true', FrequentlyForwarded: 'false' },
    ...delivered({ content: `${TEXT}\n\n[Forwarded]` }),
  },
  {
    label: 'forwarded many times, in reply',
    form: {
      ...{ Forwarded: 'true', FrequentlyForwarded: 'true' },
      OriginalRepliedMessageSid: `SM${'e'.repeat(32)}`,
    },
    ...delivered({
      content: `${TEXT}\n\n[Forwarded many times]\n[In reply to message SM${'e'.repeat(32)}]`,
    }),
  },
  {
    label: 'not forwarded',
    form: { Forwarded: 'false', FrequentlyForwarded: 'false', ReferralNumMedia: '0' },
    ...delivered(),
  },
  {
    label: 'JSON with bodySHA256',
    json: { hashed: 'the body' },
    form: { Body: `${ASTRONAUT} \u00FC` },
    ...delivered({ content: `${ASTRONAUT} \u00FC` }),
  },
  {
    label: 'JSON that is not what was hashed',
    json: { hashed: 'another body' },
    ...nothing(UNSIGNED),
  },
  { label: 'JSON without its hash', json: { hashed: 'nothing' }, ...nothing(UNSIGNED) },
];

const media: readonly InboundCase[] = [
  {
    label: 'a picture with a text',
    media: [jpeg(picture)],
    ...delivered({ files: ['image-1.png'] }),
  },
  {
    label: 'a picture alone',
    form: { Body: '' },
    media: [jpeg(picture)],
    ...delivered({ content: '(no text)', files: ['image-1.png'] }),
  },
  {
    label: 'a picture that has no URL',
    form: { Body: '', NumMedia: '1', MediaContentType0: 'image/jpeg' },
    ...delivered({ content: '(no text)\n\n[attachment could not be retrieved: image/jpeg]' }),
  },
  {
    label: 'a picture that is there at the third try: 404, 404, 200',
    media: [jpeg(status(404), status(404), picture)],
    ...delivered({ files: ['image-1.png'] }),
  },
  {
    label: 'a picture after 429, 503 and a reset',
    media: [jpeg(status(429), status(503), 'reset', picture)],
    ...delivered({ files: ['image-1.png'] }),
  },
  {
    label: 'five pictures',
    media: Array.from({ length: 5 }, () => jpeg(picture)),
    ...delivered({ files: numbered(5) }),
  },
  {
    label: 'ten media',
    media: Array.from({ length: 10 }, () => jpeg(picture)),
    ...delivered({ files: numbered(10) }),
  },
  {
    label: 'a contact card',
    media: [
      { type: 'text/vcard', answers: [{ status: 200, body: 'BEGIN:VCARD\r\nEND:VCARD\r\n' }] },
    ],
    ...delivered({ files: ['file-1.vcf'] }),
  },
  {
    label: 'a picture that was deleted, and one that was not',
    media: [jpeg(status(410)), jpeg(picture)],
    ...delivered({ content: `${TEXT}\n\n${lost(1)}`, files: ['image-2.png'] }),
  },
  {
    label: 'a redirect to 127.0.0.1',
    media: [jpeg(redirect('http://127.0.0.1:1/x'))],
    ...delivered({ content: `${TEXT}\n\n${lost(1)}` }),
  },
  {
    label: 'a redirect to 169.254.169.254',
    media: [jpeg(redirect('http://169.254.169.254/latest/meta-data/'))],
    ...delivered({ content: `${TEXT}\n\n${lost(1)}` }),
  },
  {
    label: 'a redirect to a name of Twilio that resolves to 169.254.169.254',
    media: [jpeg(redirect('https://mms.twiliocdn.com/x'))],
    ...delivered({ content: `${TEXT}\n\n${lost(1)}` }),
  },
  {
    label: 'a redirect to a name of Twilio that resolves to 127.0.0.1',
    media: [jpeg(redirect('https://media.twiliocdn.com/x'))],
    ...delivered({ content: `${TEXT}\n\n${lost(1)}` }),
  },
  {
    label: 'a redirect to another name',
    media: [{ type: 'image/png', answers: [redirect('https://evil.example/x')] }],
    ...delivered({ content: `${TEXT}\n\n${lost(1, 'image/png')}` }),
  },
  {
    label: 'a MediaUrl of another host',
    media: [{ type: 'image/jpeg', url: ELSEWHERE, answers: [] }],
    ...delivered({
      content: `${TEXT}\n\n[attachment could not be retrieved: image/jpeg]`,
    }),
  },
];

const keywords: readonly InboundCase[] = [
  { label: 'STOP', form: { Body: 'STOP' }, ...suppressed('opt_out', 'SMS opt-out') },
  { label: 'stop', form: { Body: 'stop' }, ...suppressed('opt_out', 'SMS opt-out') },
  {
    label: 'Stop between white space',
    form: { Body: ' Stop\n' },
    ...suppressed('opt_out', 'SMS opt-out'),
  },
  {
    label: 'Unsubscribe',
    form: { Body: 'Unsubscribe' },
    ...suppressed('opt_out', 'SMS opt-out'),
  },
  ...['Stop.', '"STOP"', 'unsubscribe!', 'STOP \u{1F6D1}'].map((Body) => ({
    label: `${Body}, which Twilio does not handle`,
    form: { Body },
    ...delivered({ content: Body, event: 'SMS opt-out' }),
  })),
  ...['Cancel.', 'Quit!', 'Remove me', 'Start!'].map((Body) => ({
    label: `${Body}, which says nothing of consent`,
    form: { Body },
    ...delivered({ content: Body }),
  })),
  {
    label: 'Start! of someone who has opted out',
    before: ['STOP'],
    form: { Body: 'Start!' },
    ...delivered({ content: 'Start!', event: 'SMS opt-in' }),
  },
  {
    label: 'STOP in a sentence',
    form: { Body: 'Please stop the order' },
    ...delivered({ content: 'Please stop the order' }),
  },
  {
    label: 'YES of someone who has not opted out',
    form: { Body: 'YES' },
    ...delivered({ content: 'YES' }),
  },
  {
    label: 'YES of someone who has opted out',
    before: ['STOP'],
    form: { Body: 'YES' },
    ...suppressed('opt_in', 'SMS opt-in'),
  },
  {
    label: 'YES of someone who has come back already',
    before: ['STOP', 'START'],
    form: { Body: 'yes' },
    ...delivered({ content: 'yes' }),
  },
  {
    label: 'START of someone who has opted out',
    before: ['stopall'],
    form: { Body: 'Start' },
    ...suppressed('opt_in', 'SMS opt-in'),
  },
  {
    label: 'START of someone who never left',
    form: { Body: 'START' },
    ...delivered({ content: 'START' }),
  },
  { label: 'a question of someone who has opted out', before: ['STOP'], ...delivered() },
  { label: 'HELP', form: { Body: 'HELP' }, ...delivered({ content: 'HELP' }) },
  { label: 'INFO', form: { Body: 'Info' }, ...delivered({ content: 'Info' }) },
  {
    label: 'OptOutType STOP',
    form: { OptOutType: 'STOP', Body: 'Arr\u00EAt' },
    ...suppressed('opt_out', 'SMS opt-out'),
  },
  {
    label: 'OptOutType START',
    form: { OptOutType: 'START', Body: 'Ici' },
    ...suppressed('opt_in', 'SMS opt-in'),
  },
  {
    label: 'OptOutType HELP',
    form: { OptOutType: 'HELP', Body: 'Aide' },
    ...suppressed('help_keyword'),
  },
  {
    label: 'STOP to a number with optOut none',
    form: { To: SHORT_CODE, Body: 'STOP' },
    ...delivered({ content: 'STOP', agentContact: SHORT_CODE }),
  },
  {
    label: 'OptOutType STOP to a number with optOut none',
    form: { To: SHORT_CODE, Body: 'STOP', OptOutType: 'STOP' },
    ...suppressed('opt_out', 'SMS opt-out'),
  },
];

const parties: readonly InboundCase[] = [
  {
    label: 'WhatsApp, delivered',
    form: {
      From: 'whatsapp:+5511987654321',
      To: `whatsapp:${OUR_NUMBER}`,
      ProfileName: 'J\u00FAlia',
    },
    ...delivered({ contact: { phone: '+5511987654321', name: 'J\u00FAlia' } }),
  },
  {
    label: 'a WhatsApp user without a number',
    form: {
      From: 'whatsapp:US.13491208655302741918',
      To: `whatsapp:${OUR_NUMBER}`,
      ProfileName: 'J\u00FAlia',
    },
    ...delivered({ contact: { name: 'J\u00FAlia' } }),
  },
  {
    label: 'a WhatsApp user of several businesses, without a number and a name',
    form: { From: 'whatsapp:US.ENT.11815799212886844830', To: `whatsapp:${OUR_NUMBER}` },
    ...delivered({ contact: { name: 'US.ENT.11815799212886844830' } }),
  },
  {
    label: 'a WhatsApp user by name',
    form: { From: 'whatsapp:@maria.lopez', To: `whatsapp:${OUR_NUMBER}` },
    ...delivered({ contact: { name: '@maria.lopez' } }),
  },
  {
    label: 'a WhatsApp user without a number who opts out',
    form: {
      From: 'whatsapp:ID.4566546130240823',
      To: `whatsapp:${OUR_NUMBER}`,
      ...{ Body: 'STOP', OptOutType: 'STOP' },
    },
    ...suppressed('opt_out'),
  },
  {
    label: 'a WhatsApp number that cannot be',
    form: { From: 'whatsapp:+1', To: `whatsapp:${OUR_NUMBER}` },
    ...held('impossible_number'),
  },
  {
    label: 'STOP on WhatsApp, which Twilio does not handle',
    form: { From: 'whatsapp:+14155550171', To: `whatsapp:${OUR_NUMBER}`, Body: 'STOP' },
    ...delivered({ content: 'STOP', contact: { phone: '+14155550171' } }),
  },
  {
    label: 'WhatsApp, held',
    form: { From: 'whatsapp:+14155550172', To: `whatsapp:${STRICT_NUMBER}` },
    ...held('whatsapp'),
  },
  {
    label: 'a text to a number whose WhatsApp is held',
    form: { To: STRICT_NUMBER },
    ...delivered({ agentContact: STRICT_NUMBER }),
  },
  {
    label: 'STOP by RCS, which Twilio does not handle',
    form: { From: 'rcs:+447400123457', To: `rcs:${RCS_AGENT}`, Body: 'STOP' },
    ...delivered({
      content: 'STOP',
      contact: { phone: '+447400123457' },
      agentContact: RCS_AGENT,
    }),
  },
  {
    label: 'RCS',
    form: { From: 'rcs:+447400123456', To: `rcs:${RCS_AGENT}` },
    ...delivered({ contact: { phone: '+447400123456' }, agentContact: RCS_AGENT }),
  },
  { label: 'a short code', form: { From: '72345' }, ...held('short_code') },
  { label: 'an alphanumeric sender', form: { From: 'AMAZON' }, ...held('alphanumeric_sender') },
  {
    label: 'our short code',
    form: { To: SHORT_CODE },
    ...delivered({ agentContact: SHORT_CODE }),
  },
  {
    label: 'a ProfileName',
    form: { From: '+14155550173', ProfileName: 'Ann' },
    ...delivered({ contact: { phone: '+14155550173', name: 'Ann' } }),
  },
  { label: 'a blank ProfileName', form: { ProfileName: ' ' }, ...delivered() },
  {
    label: 'a number of the messaging service that is not configured',
    form: { To: '+15550004444', MessagingServiceSid: MESSAGING_SERVICE },
    ...delivered({ agentContact: '+15550004444' }),
  },
  {
    label: 'an MMS SID without media',
    form: { MessageSid: `MM${'b'.repeat(32)}` },
    ...delivered(),
  },
  { label: 'a SID in capitals', form: { MessageSid: `SM${'ABCDEF01'.repeat(4)}` }, ...delivered() },
];

const SID = `SM${'c'.repeat(32)}`;
const UNKNOWN = refused(403, 'No shop has this account and number');

const refusals: readonly InboundCase[] = [
  { label: 'an unknown number', form: { To: '+15550009999' }, ...nothing(UNKNOWN) },
  {
    label: 'an unknown account',
    form: { AccountSid: `AC${'9'.repeat(32)}` },
    ...nothing(UNSIGNED),
  },
  { label: 'no signature', signature: 'none', ...nothing(UNSIGNED) },
  { label: 'a wrong signature', signature: 'A'.repeat(27) + '=', ...nothing(UNSIGNED) },
  { label: 'no MessageSid', form: { MessageSid: undefined }, ...nothing(malformed('MessageSid')) },
  {
    label: 'two MessageSids',
    form: { MessageSid: [SID, SID] },
    ...nothing(malformed('MessageSid')),
  },
  {
    label: 'a MessageSid that is too short',
    form: { MessageSid: SID.slice(0, -1) },
    ...nothing(malformed('MessageSid')),
  },
  {
    label: 'a MessageSid of a call',
    form: { MessageSid: `CA${'c'.repeat(32)}` },
    ...nothing(malformed('MessageSid')),
  },
  { label: 'no From', form: { From: undefined }, ...nothing(malformed('From')) },
  { label: 'two Froms', form: { From: ['+1415', '+1416'] }, ...nothing(malformed('From')) },
  { label: 'no To', form: { To: undefined }, ...nothing(malformed('To')) },
  { label: 'two Tos', form: { To: [OUR_NUMBER, OUR_NUMBER] }, ...nothing(malformed('To')) },
  { label: 'no AccountSid', form: { AccountSid: undefined }, ...nothing(malformed('AccountSid')) },
  {
    label: 'two statuses that differ',
    form: { SmsStatus: ['received', 'sent'] },
    ...nothing(malformed('SmsStatus')),
  },
  ...['delivered', 'failed', 'sent', 'read'].map((state): InboundCase => ({
    label: `a status callback: ${state}`,
    form: {
      ...{ From: OUR_NUMBER, To: '+14155550174', Body: undefined },
      ...{ SmsStatus: state, MessageStatus: state },
    },
    ...nothing(NOTED),
  })),
  {
    label: 'a status callback without a signature',
    form: { From: OUR_NUMBER, To: '+14155550174', MessageStatus: 'failed', SmsStatus: 'failed' },
    signature: 'none',
    ...nothing(UNSIGNED),
  },
  {
    label: 'GET',
    request: { method: 'GET' },
    ...nothing(refused(405, 'Configure the webhook as HTTP POST', { allow: 'POST' })),
  },
  ...['text/plain', 'multipart/form-data; boundary=x', 'application/xml'].map(
    (type): InboundCase => ({
      label: `the content type ${type}`,
      request: { type, body: 'Body=x' },
      ...nothing(
        refused(415, 'Expected application/x-www-form-urlencoded or application/json', {
          connection: 'close',
        }),
      ),
    }),
  ),
  {
    label: 'a body over 64 KiB',
    request: { body: `Body=${'x'.repeat(65_536)}` },
    ...nothing(refused(413, 'The body is larger than 65536 bytes', { connection: 'close' })),
  },
  {
    label: 'JSON that is none',
    request: { type: 'application/json', body: '{"Body"' },
    ...nothing(refused(400, 'Not a JSON object')),
  },
  {
    label: 'a spool that is down',
    spool: 'closed',
    ...nothing(refused(503, 'Try again later', { 'retry-after': '10' })),
  },
];

export const CASES: readonly InboundCase[] = [
  ...texts,
  ...media,
  ...keywords,
  ...parties,
  ...refusals,
];
