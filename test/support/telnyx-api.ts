import { z } from 'zod';
import {
  API_KEY,
  inboundPayload,
  type Members,
  outboundPayload,
  TELNYX_NUMBER,
  telnyxId,
} from './telnyx-stand-in.ts';
import type { StandInAnswer, TwilioStandIn } from './twilio-stand-in.ts';

/** A message that Telnyx keeps. */
interface KeptMessage {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly payload: Members;
}

export interface TelnyxApi {
  /** Telnyx takes a message in, and no webhook is called. */
  keep(message: {
    readonly id: string;
    readonly at: number;
    readonly to: string;
    readonly payload?: Members;
  }): void;
  /** Telnyx sent a message, which is in its records as sent to `to`. */
  keepSent(message: {
    readonly id: string;
    readonly at: number;
    readonly to: string;
    readonly payload?: Members;
  }): void;
  /** What was sent, in order; refused texts are not among it. */
  readonly sent: readonly { id: string; from: string; to: string; text: string }[];
  /** Answers for the next texts that are sent; `kept` ones Telnyx sends nevertheless. */
  answerNextText(answer: StandInAnswer, kept?: 'kept'): void;
  /** Answers for the next requests of any kind. */
  answerNext(...answers: readonly StandInAnswer[]): void;
  /** Each request for the API, with its query decoded. */
  readonly requests: readonly { readonly path: string; readonly query: URLSearchParams }[];
  /** Messages that can no longer be retrieved. */
  readonly gone: Set<string>;
  /** By number: its messaging profile, or null without one. */
  readonly numbers: Map<string, string | null>;
  readonly profiles: Map<string, Members>;
}

const sentSchema = z.strictObject({ from: z.string(), to: z.string(), text: z.string() });

const json = (status: number, body: unknown): StandInAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
export const telnyxError = (status: number, code: string): StandInAnswer =>
  json(status, { errors: [{ code, title: 'Refused', detail: 'of +14155552671' }] });

/**
 * The parts of Telnyx's API v2 that the gateway calls, after its public description: a Bearer key,
 * detail records in pages of at most 50 that are filtered by whole days, messages by their id.
 */
export function serveTelnyx(standIn: TwilioStandIn): TelnyxApi {
  const kept: KeptMessage[] = [];
  const sent: { id: string; from: string; to: string; text: string }[] = [];
  const next: StandInAnswer[] = [];
  const nextTexts: { answer: StandInAnswer; kept: boolean }[] = [];
  const requests: { path: string; query: URLSearchParams }[] = [];
  const gone = new Set<string>();
  const numbers = new Map<string, string | null>();
  const profiles = new Map<string, Members>();

  const send = (body: string): StandInAnswer => {
    const text = sentSchema.parse(JSON.parse(body));
    const scripted = nextTexts.shift();
    if (scripted !== undefined && !scripted.kept) return scripted.answer;
    const id = telnyxId(0xa000 + sent.length);
    const payload = outboundPayload({
      ...{ id, text: text.text, from: { phone_number: text.from } },
      to: [{ phone_number: text.to, status: 'queued' }],
    });
    sent.push({ id, ...text });
    kept.push({ id, direction: 'outbound', from: text.from, to: text.to, at: Date.now(), payload });
    return scripted?.answer ?? json(200, { data: payload });
  };

  const records = (query: URLSearchParams): StandInAnswer => {
    const size = Number(query.get('page[size]') ?? 20);
    const number = Number(query.get('page[number]') ?? 1);
    const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
    const since = query.get('filter[created_at][gte]') ?? '';
    const until = query.get('filter[created_at][lt]') ?? '9';
    const isDay = (day: string) => /^(\d{4}-\d\d-\d\d|9)$/.test(day);
    if (size > 50 || query.get('filter[record_type]') !== 'messaging') return json(422, {});
    if (!isDay(since) || !isDay(until)) return json(422, {});
    const found = kept
      .filter(
        ({ direction, at, to }) =>
          direction === query.get('filter[direction]') &&
          dayOf(at) >= since &&
          dayOf(at) < until &&
          to.includes(query.get('filter[cld][contains]') ?? ''),
      )
      .toSorted((one, other) => other.at - one.at);
    if (query.get('sort') !== '-created_at') found.reverse();
    return json(200, {
      data: found
        .slice((number - 1) * size, number * size)
        .map(({ id, direction, from, to, at }) => ({
          ...{ record_type: 'message_detail_record', uuid: id, direction, cli: from, cld: to },
          created_at: new Date(at).toISOString(),
        })),
      meta: { total_pages: Math.ceil(found.length / size), page_number: number, page_size: size },
    });
  };

  const got = (path: string): StandInAnswer => {
    const [, kind, id = ''] = /^\/v2\/([a-z_]+)(?:\/(.*))?$/.exec(path) ?? [];
    const key = decodeURIComponent(id);
    const notFound = telnyxError(404, '10005');
    if (kind === 'messages') {
      const message = gone.has(key) ? undefined : kept.find((each) => each.id === key);
      return message === undefined ? notFound : json(200, { data: message.payload });
    }
    if (kind === 'messaging_phone_numbers') {
      if (!numbers.has(key)) return notFound;
      const data = { phone_number: key, messaging_profile_id: numbers.get(key) ?? null };
      return json(200, { data });
    }
    if (kind === 'messaging_profiles' && id === '') return json(200, { data: [] });
    const profile = kind === 'messaging_profiles' ? profiles.get(key) : undefined;
    return profile === undefined ? notFound : json(200, { data: { id: key, ...profile } });
  };

  standIn.route(({ path: url, method, body, authorization }) => {
    if (!url.startsWith('/v2/')) return undefined;
    const { pathname: path, searchParams: query } = new URL(url, 'http://api');
    requests.push({ path, query });
    const scripted = next.shift();
    if (scripted !== undefined) return scripted;
    if (authorization !== `Bearer ${API_KEY}`) return telnyxError(401, '10009');
    if (path === '/v2/messages' && method === 'POST') return send(body);
    if (method !== 'GET') return { status: 405 };
    return path === '/v2/detail_records' ? records(query) : got(path);
  });
  return {
    ...{ sent, requests, gone, numbers, profiles },
    keep: ({ id, at, to, payload = {} }) => {
      const from = '+14155552671';
      const whole = inboundPayload({ id, to: [{ phone_number: to }], ...payload });
      kept.push({ id, direction: 'inbound', from, to, at, payload: whole });
    },
    keepSent: ({ id, at, to, payload = {} }) => {
      const whole = outboundPayload({ id, to: [{ phone_number: to, status: 'sent' }], ...payload });
      kept.push({ id, direction: 'outbound', from: TELNYX_NUMBER, to, at, payload: whole });
    },
    answerNextText: (answer, how) => void nextTexts.push({ answer, kept: how === 'kept' }),
    answerNext: (...answers) => void next.push(...answers),
  };
}
