import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import { z } from 'zod';
import type { Clock } from '../../../../runtime/clock.ts';
import type { FormPairs } from '../../stored.ts';
import {
  type ApiAnswer,
  type ApiCall,
  apiCalls,
  type CallApi,
  connectTwilio,
  type Credential,
  TwilioFailed,
} from './transport.ts';

/** Twilio's maximum page size. */
const PAGE_SIZE = 1000;
/** Twilio's limit per message. */
const MAX_MEDIA = 10;

/** Twilio's REST API for reconciliation. Every method throws {TwilioFailed}. */
export interface MessageLists {
  /** The maximum by which this machine's clock was ahead of Twilio's. */
  readonly clockAheadMs: number;
  /** Pages of the account's messages within a span, to one address if it is given. */
  pages(to: string | undefined, span: Span): AsyncIterable<readonly ListedMessage[]>;
  media(messageSid: string): Promise<readonly ListedMedium[]>;
}

/**
 * A period by DateSent. The last one has no end, so messages that arrive meanwhile belong to it.
 */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

/** The request rate; the defaults are for production. */
export interface ApiPace {
  /** Between two requests: four per second by default. */
  readonly gapMs?: number;
  /** The number of retries per request, after 1, 2, 4 s or up to twice that. */
  readonly retries?: number;
  readonly minTimeoutMs?: number;
}

export interface ListedAccount {
  readonly accountSid: string;
  readonly credential: Credential;
  readonly apiBaseUrl?: string | undefined;
}

const TIMEOUT_MS = 30_000;

/** The lists of one account; its requests are sent one after the other. */
export async function connectMessageLists(
  { accountSid, credential, apiBaseUrl }: ListedAccount,
  { pace = {}, clock, signal }: { pace?: ApiPace; clock: Clock; signal: AbortSignal },
): Promise<MessageLists> {
  let clockAheadMs = 0;
  const call = apiCalls({
    baseUrl: apiBaseUrl,
    timeoutMs: TIMEOUT_MS,
    ...{ clock, signal },
    onDate: (date) => {
      const theirs = Date.parse(date ?? '');
      if (!Number.isNaN(theirs)) clockAheadMs = Math.max(clockAheadMs, clock() - theirs);
    },
  });
  const paced = pacedCalls(call, pace, clock, signal);
  const client = await connectTwilio(accountSid, credential, paced);
  const { messages } = client.api.v2010.accounts(accountSid);
  return {
    get clockAheadMs() {
      return clockAheadMs;
    },
    async *pages(to, span) {
      // Spans may overlap by a second at their ends, because known messages are not accepted twice.
      let page: MessagePage | undefined = await messages.page({
        pageSize: PAGE_SIZE,
        ...(to !== undefined && { to }),
        dateSentAfter: new Date(span.from),
        ...(span.to !== undefined && { dateSentBefore: new Date(span.to + 1000) }),
      });
      while (page !== undefined) {
        // Annotated, because the type of a page refers to itself.
        const { instances }: MessagePage = page;
        yield instances.map((instance) => listedMessage.parse(instance));
        page = await page.nextPage();
      }
    },
    async media(messageSid) {
      const { instances } = await messages(messageSid).media.page({ pageSize: MAX_MEDIA });
      return instances.map((instance) => listedMedium.parse(instance));
    },
  };
}

/** The package does not export the type of its pages. */
interface MessagePage {
  readonly instances: readonly unknown[];
  nextPage(): Promise<MessagePage> | undefined;
}

/** A longer Retry-After ends the run; the next run waits for it. */
const LONGEST_WAIT_MS = 60_000;

/** Makes calls one after the other at an interval, and retries temporary failures. */
function pacedCalls(
  callApi: CallApi,
  { gapMs = 250, retries = 3, minTimeoutMs = 1000 }: ApiPace,
  clock: Clock,
  signal: AbortSignal,
): CallApi {
  let earliest = 0;
  const attempt = async (call: ApiCall): Promise<ApiAnswer> => {
    await delay(Math.max(earliest - clock(), 0), undefined, { signal });
    earliest = clock() + gapMs;
    return callApi(call);
  };
  return (call) =>
    pRetry(() => attempt(call), {
      retries,
      minTimeout: minTimeoutMs,
      randomize: true,
      signal,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!isPassing(error) || retriesLeft === 0) return;
        await delay(error.retryAfterMs ?? 0, undefined, { signal });
      },
      shouldRetry: ({ error }) => isPassing(error),
    });
}

const isPassing = (error: Error): error is TwilioFailed =>
  error instanceof TwilioFailed &&
  error.kind === 'later' &&
  (error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS;

/**
 * A message in the Messages list (REST API, Message resource), with the names that `twilio` uses.
 * Only the members that are used; Twilio may add others.
 */
const listedMessage = z.object({
  sid: z.string(),
  accountSid: z.string(),
  direction: z.string(),
  status: z.string().nullish(),
  from: z.string().nullish(),
  to: z.string().nullish(),
  body: z.string().nullish(),
  numSegments: z.coerce.string().nullish(),
  numMedia: z.coerce.number().int().min(0).catch(0),
  messagingServiceSid: z.string().nullish(),
  // The package passes on invalid dates unchanged.
  dateSent: z.date().nullish().catch(undefined),
  dateCreated: z.date().nullish().catch(undefined),
});
export type ListedMessage = z.output<typeof listedMessage>;

const listedMedium = z.object({
  sid: z.string(),
  contentType: z.string().nullish(),
  dateCreated: z.date().nullish().catch(undefined),
});
export type ListedMedium = z.output<typeof listedMedium>;

/** When it was sent, in milliseconds; undefined if Twilio does not say. */
export function sentAt({ dateSent, dateCreated }: ListedMessage): number | undefined {
  return (dateSent ?? dateCreated)?.getTime();
}

/**
 * The parameters with which the webhook would have delivered this message, as far as the REST API
 * has them. ProfileName, ButtonText, the location and OptOutType exist in webhooks only.
 */
export function toPairs(message: ListedMessage, media: readonly ListedMedium[]): FormPairs {
  const { sid, accountSid, messagingServiceSid, numSegments } = message;
  const folder = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages/${sid}/Media/`;
  return [
    ['MessageSid', sid],
    ['SmsSid', sid],
    ['SmsMessageSid', sid],
    ['AccountSid', accountSid],
    ...(messagingServiceSid ? [['MessagingServiceSid', messagingServiceSid] as const] : []),
    ['From', message.from ?? ''],
    ['To', message.to ?? ''],
    ['Body', message.body ?? ''],
    ['SmsStatus', 'received'],
    ['NumSegments', numSegments ?? '1'],
    ['NumMedia', String(media.length)],
    ...oldestFirst(media).flatMap((medium, index) => [
      [`MediaContentType${index}`, medium.contentType ?? ''] as const,
      [`MediaUrl${index}`, folder + medium.sid] as const,
    ]),
    ['ApiVersion', '2010-04-01'],
  ];
}

const oldestFirst = (media: readonly ListedMedium[]): ListedMedium[] =>
  media.toSorted(
    (one, other) => (one.dateCreated?.getTime() ?? 0) - (other.dateCreated?.getTime() ?? 0),
  );
