import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  OUR_NUMBER,
  type StandInAnswer,
  THEIR_NUMBER,
  type TwilioStandIn,
} from './twilio-stand-in.ts';

/** A message that Twilio keeps. */
export interface KeptMessage {
  readonly sid: string;
  /** Milliseconds since the epoch; Twilio tells whole seconds. */
  readonly sentAt: number;
  readonly body: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound-api';
  readonly status: string;
  readonly messagingServiceSid: string | null;
  readonly media: readonly { readonly sid: string; readonly contentType: string }[];
}

export interface TwilioMessages {
  /** Twilio takes a message in, and no webhook is called. */
  keep(message: Partial<KeptMessage> & Pick<KeptMessage, 'sid'>): void;
  /** Answers for the next requests, in the place of what they ask for. */
  answerNext(...answers: readonly StandInAnswer[]): void;
  /** Texts that were sent, in order; those that were refused are not among them. */
  readonly sent: readonly SentText[];
  /** Answers for the next texts that are sent; `kept` ones Twilio sends nevertheless. */
  answerNextText(answer: StandInAnswer, kept?: 'kept'): void;
  /** Who wrote STOP: texts to him are refused. */
  readonly optedOut: Set<string>;
  /** Every request for a list, with its query decoded. */
  readonly requests: readonly { readonly path: string; readonly query: URLSearchParams }[];
}

/** As `POST Messages` asked for it. */
export interface SentText {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly media?: readonly string[];
  /** Of a template: which, and what it is filled with. */
  readonly template?: { readonly sid: string; readonly variables: unknown };
}

export interface TwilioMessagesOptions {
  readonly accountSid?: string;
  /** Of Basic auth; by default the account's SID and its token. */
  readonly credentials?: string;
  /** Twilio gives at most 1000 in one page. */
  readonly maxPageSize?: number;
  /** The time of day in a DateSent filter is not looked at. */
  readonly filtersByDay?: boolean;
}

/**
 * The Messages and Media lists of Twilio's REST API (2010-04-01), after its public description:
 * newest first, in pages with `next_page_uri`, dates of RFC 2822, Basic auth. And its way to send a
 * text: 201 with the message, which is then in the list.
 */
export function serveMessages(
  twilio: TwilioStandIn,
  options: TwilioMessagesOptions = {},
): TwilioMessages {
  const { accountSid = ACCOUNT_SID, maxPageSize = 1000, filtersByDay = false } = options;
  const credentials = options.credentials ?? `${accountSid}:${AUTH_TOKEN}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const account = `/2010-04-01/Accounts/${accountSid}`;
  const kept: KeptMessage[] = [];
  const next: StandInAnswer[] = [];
  const requests: { path: string; query: URLSearchParams }[] = [];

  const list = (query: URLSearchParams): StandInAnswer => {
    const matching = kept
      .map((message, index) => ({ message, index }))
      .filter(({ message }) => matches(message, query, filtersByDay))
      .sort((a, b) => second(b.message.sentAt) - second(a.message.sentAt) || b.index - a.index)
      .map(({ message }) => message);
    const size = Math.min(Number(query.get('PageSize') ?? 50), maxPageSize);
    const page = Number(query.get('Page') ?? 0);
    const token = query.get('PageToken');
    const start = token === null ? 0 : matching.findIndex(({ sid }) => `PA${sid}` === token) + 1;
    const shown = matching.slice(start, start + size);
    const last = shown.at(-1);
    const following = new URLSearchParams(query);
    following.set('Page', String(page + 1));
    following.set('PageToken', `PA${last?.sid ?? ''}`);
    return json(200, {
      messages: shown.map((message) => resource(message, accountSid)),
      page,
      page_size: size,
      start: page * size,
      end: page * size + shown.length - 1,
      uri: `${account}/Messages.json?${query.toString()}`,
      first_page_uri: `${account}/Messages.json?PageSize=${size}&Page=0`,
      previous_page_uri: null,
      next_page_uri:
        start + size < matching.length ? `${account}/Messages.json?${following.toString()}` : null,
    });
  };

  const media = (sid: string): StandInAnswer => {
    const message = kept.find((other) => other.sid === sid);
    if (message === undefined) return notFound();
    return json(200, {
      media_list: message.media.map((medium) => ({
        sid: medium.sid,
        account_sid: accountSid,
        parent_sid: sid,
        content_type: medium.contentType,
        date_created: rfc2822(message.sentAt),
        date_updated: rfc2822(message.sentAt),
        uri: `${account}/Messages/${sid}/Media/${medium.sid}.json`,
      })),
      page: 0,
      page_size: 50,
      start: 0,
      end: message.media.length - 1,
      uri: `${account}/Messages/${sid}/Media.json`,
      first_page_uri: `${account}/Messages/${sid}/Media.json?PageSize=50&Page=0`,
      previous_page_uri: null,
      next_page_uri: null,
    });
  };

  const sent: SentText[] = [];
  const nextTexts: { answer: StandInAnswer; isKept: boolean }[] = [];
  const optedOut = new Set<string>();

  const create = (form: URLSearchParams): StandInAnswer => {
    const instead = nextTexts.shift();
    if (instead?.isKept === false) return instead.answer;
    const [from = '', to = '', text = '', contentSid = ''] = [
      'From',
      'To',
      'Body',
      'ContentSid',
    ].map((key) => form.get(key) ?? '');
    const variables: unknown = JSON.parse(form.get('ContentVariables') ?? '{}');
    const filledIn = Object.values(variables ?? {}).join(' ');
    const body = contentSid === '' ? text : `From the template: ${filledIn}.`;
    const media = form.getAll('MediaUrl');
    const refused = refusalOf(to, body, optedOut, media.length > 0);
    if (refused !== undefined) return refused;
    const sid = `SM${(0x500 + sent.length).toString(16).padStart(32, '0')}`;
    const template = contentSid !== '' && { template: { sid: contentSid, variables } };
    sent.push({ sid, from, to, body, ...(media.length > 0 && { media }), ...template });
    const message: KeptMessage = {
      ...{ sid, from, to, body, sentAt: Date.now(), messagingServiceSid: null, media: [] },
      direction: 'outbound-api',
      status: 'queued',
    };
    kept.push(message);
    return instead?.answer ?? json(201, resource(message, accountSid));
  };

  twilio.route((request) => {
    const { pathname } = new URL(request.path, twilio.baseUrl);
    if (request.method !== 'POST' || pathname !== `${account}/Messages.json`) return undefined;
    if (request.authorization !== authorization) return unauthenticated();
    return create(new URLSearchParams(request.body));
  });

  twilio.route((request) => {
    const url = new URL(request.path, twilio.baseUrl);
    const ofMedia = new RegExp(`^${account}/Messages/([A-Z]{2}[0-9a-f]{32})/Media[.]json$`);
    const sid = ofMedia.exec(url.pathname)?.[1];
    const isList = url.pathname === `${account}/Messages.json`;
    if (request.method !== 'GET' || (!isList && sid === undefined)) return undefined;
    requests.push({ path: url.pathname, query: url.searchParams });
    const instead = next.shift();
    if (instead !== undefined) return instead;
    if (request.authorization !== authorization) {
      return unauthenticated();
    }
    return sid === undefined ? list(url.searchParams) : media(sid);
  });

  return {
    requests,
    sent,
    optedOut,
    answerNextText: (answer, isKept) => void nextTexts.push({ answer, isKept: isKept === 'kept' }),
    answerNext: (...answers) => void next.push(...answers),
    keep: (message) =>
      void kept.push({
        sentAt: Date.now(),
        body: 'Where is my order?',
        from: THEIR_NUMBER,
        to: OUR_NUMBER,
        direction: 'inbound',
        status: 'received',
        messagingServiceSid: null,
        media: [],
        ...message,
      }),
  };
}

/** Too many requests, as Twilio says it (error 20429). */
export function tooManyRequests(retryAfter?: string): StandInAnswer {
  const answer = { code: 20429, message: 'Too Many Requests', status: 429 };
  return json(429, answer, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}

/** What Twilio refuses, with its own codes. */
function refusalOf(
  to: string,
  body: string,
  optedOut: ReadonlySet<string>,
  hasMedia: boolean,
): StandInAnswer | undefined {
  const refuse = (code: number, message: string) => json(400, { code, message, status: 400 });
  if (body === '' && !hasMedia) return refuse(21602, 'Message body is required');
  if (body.length > 1600) return refuse(21617, 'The concatenated message body exceeds 1600');
  if (!/^(?:(?:whatsapp:|rcs:)?\+[1-9]\d{6,14}|whatsapp:[A-Z]{2}[.]\w+)$/.test(to))
    return refuse(21211, "Invalid 'To' Phone Number");
  if (optedOut.has(to)) return refuse(21610, 'Attempt to send to unsubscribed recipient');
  return undefined;
}

const unauthenticated = (): StandInAnswer =>
  json(401, { code: 20003, message: 'Authenticate', status: 401 });

const notFound = (): StandInAnswer =>
  json(404, { code: 20404, message: 'The requested resource was not found', status: 404 });

function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): StandInAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

const second = (at: number): number => Math.floor(at / 1000) * 1000;

function matches(message: KeptMessage, query: URLSearchParams, byDay: boolean): boolean {
  const at = byDay ? day(message.sentAt) : second(message.sentAt);
  const bound = (name: string): number | undefined => {
    const value = query.get(name);
    if (value === null) return undefined;
    return byDay ? day(Date.parse(value)) : Date.parse(value);
  };
  const to = query.get('To');
  const from = query.get('From');
  return (
    (to === null || to === message.to) &&
    (from === null || from === message.from) &&
    at >= (bound('DateSent>') ?? -Infinity) &&
    at <= (bound('DateSent<') ?? Infinity)
  );
}

const day = (at: number): number => Math.floor(at / 86_400_000) * 86_400_000;

/** `Fri, 13 Aug 2010 01:16:22 +0000` */
const rfc2822 = (at: number): string => new Date(at).toUTCString().replace('GMT', '+0000');

function resource(message: KeptMessage, accountSid: string): object {
  const uri = `/2010-04-01/Accounts/${accountSid}/Messages/${message.sid}`;
  return {
    account_sid: accountSid,
    api_version: '2010-04-01',
    body: message.body,
    date_created: rfc2822(message.sentAt),
    date_sent: rfc2822(message.sentAt),
    date_updated: rfc2822(message.sentAt),
    direction: message.direction,
    error_code: null,
    error_message: null,
    from: message.from,
    messaging_service_sid: message.messagingServiceSid,
    num_media: String(message.media.length),
    num_segments: '1',
    price: null,
    price_unit: null,
    sid: message.sid,
    status: message.status,
    subresource_uris: { media: `${uri}/Media.json` },
    to: message.to,
    uri: `${uri}.json`,
  };
}
