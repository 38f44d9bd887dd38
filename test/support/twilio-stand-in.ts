import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Twilio as the gateway meets it: signed webhooks in, the REST API's media out. */

export const ACCOUNT_SID = `AC${'a1'.repeat(16)}`;
export const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
export const OUR_NUMBER = '+15550001111';
export const THEIR_NUMBER = '+14155552671';

export type Pairs = readonly (readonly [string, string])[];

/** `messageSid(7)`, `messageSid('MM', 7)`: well-formed and different for each number. */
export function messageSid(n: number, kind: 'SM' | 'MM' = 'SM'): string {
  return kind + n.toString(16).padStart(32, '0');
}

export function mediaSid(n: number): string {
  return `ME${n.toString(16).padStart(32, '0')}`;
}

/**
 * The parameters of an inbound SMS as Twilio sends them. A change to undefined leaves the
 * parameter out, one that is an array repeats it.
 */
export function inboundForm(
  changes: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): Pairs {
  const sid = changes['MessageSid'];
  const form: Record<string, string | readonly string[] | undefined> = {
    ToCountry: 'US',
    ToState: '',
    SmsMessageSid: typeof sid === 'string' ? sid : messageSid(1),
    NumMedia: '0',
    ToCity: '',
    FromZip: '94105',
    SmsSid: typeof sid === 'string' ? sid : messageSid(1),
    FromState: 'CA',
    SmsStatus: 'received',
    FromCity: 'SAN FRANCISCO',
    Body: 'Where is my order?',
    FromCountry: 'US',
    To: OUR_NUMBER,
    ToZip: '',
    NumSegments: '1',
    MessageSid: messageSid(1),
    AccountSid: ACCOUNT_SID,
    From: THEIR_NUMBER,
    ApiVersion: '2010-04-01',
    ...changes,
  };
  return Object.entries(form).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return typeof value === 'string'
      ? [[name, value] as const]
      : value.map((item) => [name, item] as const);
  });
}

/**
 * X-Twilio-Signature, written from Twilio's description rather than with its library: the URL,
 * then every parameter sorted by name as name and value without anything between, HMAC-SHA1
 * (of webhook rules also HMAC-SHA256) with the auth token or shared key, base64. Equal values of one name count once.
 */
export function twilioSignature(
  secret: string,
  url: string,
  pairs: Pairs,
  algorithm = 'sha1',
): string {
  const names = [...new Set(pairs.map(([name]) => name))].sort();
  const text = names.map((name) => {
    const values = pairs.filter(([other]) => other === name).map(([, value]) => value);
    return [...new Set(values)]
      .sort()
      .map((value) => name + value)
      .join('');
  });
  return createHmac(algorithm, secret)
    .update(url + text.join(''), 'utf8')
    .digest('base64');
}

/** The `bodySHA256` of a JSON webhook's URL. */
export function bodySha256(body: string): string {
  return createHash('sha256').update(body, 'utf8').digest('hex');
}

export interface WebhookAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookRequest {
  /** Where the gateway listens, with path and query. */
  readonly target: string;
  readonly body: string | Buffer;
  readonly signature?: string | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly method?: string;
  readonly agent?: http.Agent;
}

/** Sends one request exactly as it is given; nothing is added but the form's content type. */
export async function postWebhook(webhook: WebhookRequest): Promise<WebhookAnswer> {
  // The path as written: an URL object would escape some of its characters.
  const [, origin = '', path = ''] = /^(http:\/\/[^/]+)(.*)$/.exec(webhook.target) ?? [];
  const request = http.request(origin, {
    path,
    method: webhook.method ?? 'POST',
    ...(webhook.agent && { agent: webhook.agent }),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'Content-Length': Buffer.byteLength(webhook.body),
      ...(webhook.signature !== undefined && { 'X-Twilio-Signature': webhook.signature }),
      ...webhook.headers,
    },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  request.end(webhook.body);
  const response = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

export function encodeForm(pairs: Pairs): string {
  const form = new URLSearchParams();
  for (const [name, value] of pairs) form.append(name, value);
  return form.toString();
}

/** One answer to one request. */
export type StandInAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /** The connection is reset before an answer. */
  | 'reset'
  /** Headers and half of the body, then silence. */
  | 'stall';

export interface StandInRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

/** Answers requests of its own; undefined for those that are not. */
export type StandInRoute = (
  request: StandInRequest & { readonly method: string; readonly body: string },
) => StandInAnswer | undefined;

/** An HTTP server in the place of api.twilio.com and of the storage behind it. */
export interface TwilioStandIn {
  readonly baseUrl: string;
  readonly requests: readonly StandInRequest[];
  /** The answers to requests for a path, one after the other; the last one stays. */
  script(path: string, ...answers: readonly StandInAnswer[]): void;
  /** Asked before the scripts, the latest first: a part of the REST API. */
  route(answer: StandInRoute): void;
  close(): Promise<void>;
}

export const mediaPath = (message: string, media: string, account = ACCOUNT_SID): string =>
  `/2010-04-01/Accounts/${account}/Messages/${message}/Media/${media}`;

/** The parameters of a message's first so many media: `mediaSid(1)`, `mediaSid(2)`, … */
export function mediaForm(message: string, count: number, type = 'image/jpeg') {
  const form: Record<string, string> = { NumMedia: String(count) };
  for (let index = 0; index < count; index += 1) {
    form[`MediaContentType${index}`] = type;
    form[`MediaUrl${index}`] = `https://api.twilio.com${mediaPath(message, mediaSid(index + 1))}`;
  }
  return form;
}

export async function startTwilioStandIn(): Promise<TwilioStandIn> {
  const scripts = new Map<string, StandInAnswer[]>();
  const requests: StandInRequest[] = [];
  const routes: StandInRoute[] = [];
  const routed = (request: http.IncomingMessage, body: string): StandInAnswer | undefined => {
    const { url: path = '', method = 'GET', headers } = request;
    const { authorization } = headers;
    for (const route of routes) {
      const answer = route({ path, authorization, method, body });
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  const scripted = (path: string): StandInAnswer => {
    const script = scripts.get(path) ?? [];
    return (script.length > 1 ? script.shift() : script[0]) ?? { status: 404 };
  };
  const respond = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const path = request.url ?? '';
    requests.push({ path, authorization: request.headers.authorization });
    const answer = routed(request, await text(request)) ?? scripted(path);
    if (answer === 'reset') {
      request.socket.resetAndDestroy();
    } else if (answer === 'stall') {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write(Buffer.alloc(500));
    } else {
      response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
    }
  };
  const server = http.createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    script: (path, ...answers) => void scripts.set(path, [...answers]),
    route: (answer) => void routes.unshift(answer),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
