import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import { parseAddress, subscriberOf, type Transport, TRANSPORTS } from './address.ts';
import type { SmsShop } from './shop.ts';
import {
  ACCOUNT_SID,
  type FormFields,
  type FormPairs,
  MESSAGE_SID,
  type MessageIdentity,
  storedForm,
} from './stored.ts';

/** A negative response. `reason` is its name in metrics, and the message is the body. */
export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
  }
}

/**
 * Reads a request's body into memory, up to `maxBytes`. A longer body is refused at once; express's
 * parsers would first read all of it, however long that takes.
 * @throws {WebhookRefused}
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new WebhookRefused(415, 'body', 'A compressed body is not accepted');
  }
  const tooLarge = (): WebhookRefused =>
    new WebhookRefused(413, 'body', `The body is larger than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', onData).pause();
      reject(tooLarge());
    };
    // 'close' is always the last event; before 'end' it means that the client disconnected.
    const onClose = (): void => reject(new WebhookRefused(400, 'body', 'The body broke off'));
    request
      .on('data', onData)
      .on('error', onClose)
      .on('close', onClose)
      .on('end', () => {
        request.off('close', onClose);
        resolve(Buffer.concat(chunks, size));
      });
  });
}

/** Twilio sends about 30 parameters, and about 70 with ten media and a Lookup add-on. */
const MAX_PAIRS = 1000;

/** The body cannot be parsed as parameters. */
const malformed = (text: string, options?: ErrorOptions): WebhookRefused =>
  new WebhookRefused(400, 'malformed', text, options);

/**
 * Parses `application/x-www-form-urlencoded` by the URL standard. Nothing is trimmed, folded or
 * dropped, because the signature covers every name and value.
 * @throws {WebhookRefused}
 */
export function parseUrlencoded(body: Buffer): FormPairs {
  // URLSearchParams removes a leading '?' from a string; the empty pair before '&' is skipped.
  const pairs = [...new URLSearchParams(`&${body.toString('utf8')}`)];
  if (pairs.length > MAX_PAIRS) throw malformed('Too many parameters');
  return pairs;
}

const jsonBody = z.record(z.string(), z.unknown());

/**
 * Parses a JSON body: one object whose members are the parameters. A nested value remains JSON
 * text, as Twilio sends such values in a form (`ChannelMetadata`).
 * @throws {WebhookRefused}
 */
export function parseJson(body: Buffer): FormPairs {
  try {
    const members = Object.entries(jsonBody.parse(JSON.parse(body.toString('utf8'))));
    if (members.length > MAX_PAIRS) throw malformed('Too many parameters');
    return members
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch (error) {
    // Not JSON, not an object, or nested deeper than the stack.
    throw malformed('Not a JSON object', { cause: error });
  }
}

const MAX_ADDRESS_LENGTH = 320;

/** A parameter that every webhook has is missing, repeated or malformed. `parameter` names it. */
export class BadParameter extends WebhookRefused {
  override name = 'BadParameter';
  readonly parameter: string;
  constructor(parameter: string) {
    super(400, 'parameter', `${parameter} must be given exactly once, in Twilio's format`);
    this.parameter = parameter;
  }
}

const once = (fields: FormFields, name: string): string => {
  const [value, ...more] = fields.all(name);
  if (value === undefined || more.length > 0) throw new BadParameter(name);
  return value;
};

const sid = (fields: FormFields, name: string, pattern: RegExp): string => {
  const value = once(fields, name);
  if (!pattern.test(value)) throw new BadParameter(name);
  return value;
};

const address = (fields: FormFields, name: string): string => {
  const value = once(fields, name);
  const bare = parseAddress(value).address;
  // No address of any transport contains a control character.
  if (bare === '' || value.length > MAX_ADDRESS_LENGTH || /\p{Cc}/u.test(value)) {
    throw new BadParameter(name);
  }
  return value;
};

/** @throws {BadParameter} */
export function readSids(fields: FormFields): { messageSid: string; accountSid: string } {
  return {
    messageSid: sid(fields, 'MessageSid', MESSAGE_SID),
    accountSid: sid(fields, 'AccountSid', ACCOUNT_SID),
  };
}

/** @throws {BadParameter} */
export function readIdentity(fields: FormFields): MessageIdentity {
  return {
    ...readSids(fields),
    from: address(fields, 'From'),
    to: address(fields, 'To'),
  };
}

/**
 * The conversation of a message: account, transport, our number, their number. Both forms of a
 * number that has two belong to one lane, so the texts of one person are never delivered
 * concurrently.
 */
export function laneOf({ accountSid, to, from }: MessageIdentity): string {
  const ours = parseAddress(to);
  const theirs = subscriberOf(parseAddress(from).address);
  return [accountSid, ours.transport, ours.address, theirs].join('/');
}

/** Reads back what `laneOf` wrote. */
export function readLane(lane: string): {
  readonly transport: Transport;
  /** Without the transport's prefix; `theirs` in the form that is used for both. */
  readonly ours: string;
  readonly theirs: string;
} {
  const [, found, ours = '', theirs = ''] = lane.split('/');
  const transport = TRANSPORTS.find((one) => one === found);
  if (transport === undefined) throw new TypeError('not the lane of a text');
  return { transport, ours, theirs };
}

/** The arrival of one message. */
export function toArrival(
  shop: SmsShop,
  identity: MessageIdentity,
  pairs: FormPairs,
  receivedAt?: number,
): Arrival {
  return {
    shopId: shop.shopId,
    channel: 'sms',
    lane: laneOf(identity),
    dedupKey: identity.messageSid,
    remoteId: identity.messageSid,
    ...storedForm(identity, pairs),
    ...(receivedAt !== undefined && { receivedAt }),
  };
}

/** Twilio's message statuses (REST API, Message resource); a fixed set keeps metric labels few. */
const STATUSES = new Set(
  `accepted scheduled queued sending sent delivered undelivered failed canceled read
  receiving`.split(/\s+/),
);

const NAMES = ['MessageStatus', 'SmsStatus'];

/**
 * The status that a callback reports: one of Twilio's, or `other`. Undefined for an inbound
 * message, whose status is `received` or absent.
 * @throws {BadParameter} the request contradicts itself
 */
export function messageStatus(fields: FormFields): string | undefined {
  const [status = 'received', ...more] = NAMES.flatMap((name) => fields.all(name)).filter(Boolean);
  if (more.some((other) => other !== status)) throw new BadParameter('SmsStatus');
  if (status === 'received') return undefined;
  return STATUSES.has(status) ? status : 'other';
}
