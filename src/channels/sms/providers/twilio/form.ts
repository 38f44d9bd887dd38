import { z } from 'zod';
import { isAddress } from '../../address.ts';
import type { FormParameters } from '../../provider.ts';
import { BadParameter, WebhookRefused } from '../../webhook-request.ts';

/** Twilio's parameters, in a form or in JSON, and the identity of a message in them. */

/** A webhook's parameters. */
export type FormPairs = FormParameters;

/** Parameters by name. */
export class FormFields {
  readonly #values = new Map<string, string[]>();

  constructor(pairs: FormPairs) {
    for (const [name, value] of pairs) {
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** The first value, which may be empty. */
  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** In the form that the signature functions of `twilio` take: repeated names as arrays. */
  signed(): Record<string, string | string[]> {
    // Without a prototype, so that a parameter may have any name, even `__proto__`.
    const params = Object.create(null) as Record<string, string | string[]>;
    for (const [name, values] of this.#values) {
      const [only] = values;
      params[name] = values.length === 1 && only !== undefined ? only : values;
    }
    return params;
  }
}

/** Of a message in either direction (Twilio, "String identifier (SID)"). */
export const MESSAGE_SID = /^(SM|MM)[0-9a-fA-F]{32}$/;
export const ACCOUNT_SID = /^AC[0-9a-fA-F]{32}$/;

/** Identifies an inbound message, whether Twilio pushed it or it was found through the API. */
export interface MessageIdentity {
  readonly messageSid: string;
  readonly accountSid: string;
  /** As Twilio writes them, with a `whatsapp:` or `rcs:` prefix. */
  readonly from: string;
  readonly to: string;
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

/** A parameter that every webhook has is missing, repeated or malformed. */
const badParameter = (name: string): BadParameter =>
  new BadParameter(name, `${name} must be given exactly once, in Twilio's format`);

const once = (fields: FormFields, name: string): string => {
  const [value, ...more] = fields.all(name);
  if (value === undefined || more.length > 0) throw badParameter(name);
  return value;
};

const sid = (fields: FormFields, name: string, pattern: RegExp): string => {
  const value = once(fields, name);
  if (!pattern.test(value)) throw badParameter(name);
  return value;
};

const address = (fields: FormFields, name: string): string => {
  const value = once(fields, name);
  if (!isAddress(value)) throw badParameter(name);
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
  if (more.some((other) => other !== status)) throw badParameter('SmsStatus');
  if (status === 'received') return undefined;
  return STATUSES.has(status) ? status : 'other';
}
