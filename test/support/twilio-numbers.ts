import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  type StandInAnswer,
  type StandInRoute,
  type TwilioStandIn,
} from './twilio-stand-in.ts';

/**
 * The parts of Twilio's REST API that tell where texts go: IncomingPhoneNumbers, ShortCodes and
 * Applications (2010-04-01), Services with their PhoneNumbers and ShortCodes (Messaging v1), in the
 * shapes of Twilio's public description of its API. Lists have pages of `pageSize` at most.
 */

type Fields = Readonly<Record<string, string | boolean | null>>;
type Resource = Record<string, string | boolean | null>;

export const twilioSid = (prefix: string, n: number): string =>
  prefix + n.toString(16).padStart(32, '0');

export interface TwilioNumbers {
  /** By SID, as the API shows them; a test may change them. */
  readonly resources: Map<string, Resource>;
  /** Every POST that was carried out, its form decoded. */
  readonly updates: { readonly path: string; readonly form: Readonly<Record<string, string>> }[];
  /** `username:password` pairs that are accepted. */
  readonly accepted: Set<string>;
  /** Answers that stand in for the real ones, by a part of the path. */
  readonly faults: Map<string, StandInAnswer>;
  addNumber(phoneNumber: string, fields?: Fields): string;
  addShortCode(shortCode: string, fields?: Fields): string;
  addApplication(fields?: Fields): string;
  addService(senders: readonly string[], fields?: Fields): string;
}

const BASE = `/2010-04-01/Accounts/${ACCOUNT_SID}`;

export function serveTwilioNumbers(standIn: TwilioStandIn, pageSize = 50): TwilioNumbers {
  const account = new StandInAccount(standIn.baseUrl, pageSize);
  standIn.route(account.route);
  return account;
}

class StandInAccount implements TwilioNumbers {
  readonly resources = new Map<string, Resource>();
  readonly updates: { path: string; form: Record<string, string> }[] = [];
  readonly accepted = new Set([`${ACCOUNT_SID}:${AUTH_TOKEN}`]);
  readonly faults = new Map<string, StandInAnswer>();
  readonly #senders = new Map<string, readonly string[]>();
  readonly #baseUrl: string;
  readonly #pageSize: number;
  #made = 0;

  constructor(baseUrl: string, pageSize: number) {
    this.#baseUrl = baseUrl;
    this.#pageSize = pageSize;
  }

  addNumber(phoneNumber: string, fields: Fields = {}): string {
    return this.#add('PN', {
      phone_number: phoneNumber,
      sms_application_sid: '',
      ...SMS,
      ...fields,
    });
  }

  addShortCode(shortCode: string, fields: Fields = {}): string {
    return this.#add('SC', { short_code: shortCode, ...SMS, ...fields });
  }

  addApplication(fields: Fields = {}): string {
    return this.#add('AP', { ...SMS, ...fields });
  }

  addService(senders: readonly string[], fields: Fields = {}): string {
    const sid = this.#add('MG', {
      inbound_request_url: null,
      inbound_method: 'POST',
      fallback_url: null,
      fallback_method: 'POST',
      use_inbound_webhook_on_number: false,
      ...fields,
    });
    this.#senders.set(sid, senders);
    return sid;
  }

  #add(prefix: string, fields: Fields): string {
    this.#made += 1;
    const sid = twilioSid(prefix, this.#made);
    this.resources.set(sid, { sid, account_sid: ACCOUNT_SID, friendly_name: sid, ...fields });
    return sid;
  }

  readonly route: StandInRoute = ({ path, authorization, method, body }) => {
    const url = new URL(path, this.#baseUrl);
    const { pathname } = url;
    if (!pathname.startsWith(BASE) && !pathname.startsWith('/v1/Services')) return undefined;
    if (!this.#isAccepted(authorization)) return AUTHENTICATE;
    for (const [part, answer] of this.faults) if (path.includes(part)) return answer;
    return method === 'POST' ? this.#update(pathname, body) : this.#read(url);
  };

  #isAccepted(authorization: string | undefined): boolean {
    const [scheme, encoded = ''] = (authorization ?? '').split(' ');
    return scheme === 'Basic' && this.accepted.has(Buffer.from(encoded, 'base64').toString());
  }

  #update(pathname: string, body: string): StandInAnswer {
    const sid = /(?:IncomingPhoneNumbers|SMS\/ShortCodes)\/((?:PN|SC)\w{32})\.json$/.exec(pathname);
    const resource = this.resources.get(sid?.[1] ?? '');
    if (resource === undefined) return NOT_FOUND;
    const form = Object.fromEntries(new URLSearchParams(body));
    this.updates.push({ path: pathname, form });
    for (const [name, value] of Object.entries(form)) resource[snake(name)] = value;
    return ok(resource);
  }

  #read(url: URL): StandInAnswer {
    const { pathname, searchParams: query } = url;
    const one = /\/((?:PN|SC|AP|MG)\w{32})(?:\.json)?$/.exec(pathname)?.[1];
    if (one !== undefined) {
      const resource = this.resources.get(one);
      return resource === undefined ? NOT_FOUND : ok(resource);
    }
    if (pathname === `${BASE}/IncomingPhoneNumbers.json`) {
      const numbers = this.#matching('PN', 'phone_number', query.get('PhoneNumber'));
      return this.#legacyPage(url, 'incoming_phone_numbers', numbers);
    }
    if (pathname === `${BASE}/SMS/ShortCodes.json`) {
      const codes = this.#matching('SC', 'short_code', query.get('ShortCode'));
      return this.#legacyPage(url, 'short_codes', codes);
    }
    if (pathname === '/v1/Services') return this.#page(url, 'services', this.#all('MG'));
    const [, service = '', list] = /^\/v1\/Services\/(MG\w{32})\/(\w+)$/.exec(pathname) ?? [];
    const prefix = list === 'PhoneNumbers' ? 'PN' : list === 'ShortCodes' ? 'SC' : undefined;
    if (prefix === undefined || !this.resources.has(service)) return NOT_FOUND;
    const senders = this.#senders.get(service) ?? [];
    const key = prefix === 'PN' ? 'phone_numbers' : 'short_codes';
    return this.#page(
      url,
      key,
      this.#all(prefix).filter(({ sid }) => senders.includes(String(sid))),
    );
  }

  #all(prefix: string): Resource[] {
    return [...this.resources].filter(([sid]) => sid.startsWith(prefix)).map(([, each]) => each);
  }

  /** Twilio's filter finds parts of numbers, and takes `*` for any digit. */
  #matching(prefix: string, key: string, filter: string | null): Resource[] {
    const pattern = (filter ?? '').replace(/[^\d*]/g, '').replaceAll('*', '\\d');
    return this.#all(prefix).filter((each) => new RegExp(pattern).test(String(each[key])));
  }

  #legacyPage(url: URL, key: string, all: readonly Resource[]): StandInAnswer {
    const { items, next } = this.#slice(url, all);
    return ok({ [key]: items, next_page_uri: next, page_size: items.length });
  }

  #page(url: URL, key: string, all: readonly Resource[]): StandInAnswer {
    const { items, next } = this.#slice(url, all);
    const next_page_url = next === null ? null : this.#baseUrl + next;
    return ok({ [key]: items, meta: { key, next_page_url, page_size: items.length } });
  }

  #slice(url: URL, all: readonly Resource[]) {
    const page = Number(url.searchParams.get('Page') ?? 0);
    const size = Math.min(Number(url.searchParams.get('PageSize') ?? 50), this.#pageSize);
    const next = new URL(url);
    next.searchParams.set('Page', String(page + 1));
    next.searchParams.set('PageToken', `PA${page + 1}`);
    return {
      items: all.slice(page * size, (page + 1) * size),
      next: (page + 1) * size < all.length ? next.pathname + next.search : null,
    };
  }
}

const SMS: Fields = {
  sms_url: '',
  sms_method: 'POST',
  sms_fallback_url: '',
  sms_fallback_method: 'POST',
};

const json = (status: number, body: unknown): StandInAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
const ok = (body: unknown): StandInAnswer => json(200, body);

/** An error as the API words it. */
export const twilioError = (status: number, code: number, message: string): StandInAnswer =>
  json(status, {
    code,
    message,
    more_info: `https://www.twilio.com/docs/errors/${code}`,
    status,
  });
const AUTHENTICATE = twilioError(401, 20003, 'Authenticate');
const NOT_FOUND = twilioError(404, 20404, 'The requested resource was not found');

/** `SmsFallbackUrl` to `sms_fallback_url`. */
const snake = (name: string): string => name.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
