import type { Channel } from './channel.ts';
import type { EntryState } from './entry-state.ts';

/**
 * Why an entry is held, suppressed or dead, why it waits, or what an operator should know about a
 * delivery. A reason is stored, searched and logged as its code; `sentence` and
 * `reason-explanations.ts` have the words. docs/reasons.md lists all codes.
 */
export type Reason = PlainReason | { [Code in keyof Parameters]: Detailed<Code> }[keyof Parameters];

/** What the words of some reasons need. */
export type ReasonParams = NonNullable<Reason['params']>;

interface PlainReason {
  readonly code: PlainCode;
  readonly params?: undefined;
}

interface Detailed<Code extends keyof Parameters> {
  readonly code: Code;
  readonly params: Parameters[Code];
}

interface Parameters {
  /** A sender exceeded this limit of shops[].email.loop or shops[].sms.loop. */
  readonly rate_limit: { readonly limit: string };
  readonly platform_answered: PlatformAnswer;
  /** `giveUpAfter` is over; `last` is why the last attempt failed. */
  readonly gave_up: { readonly attempts: number; readonly last: Reason };
  /** The budget of create-message requests is used up. */
  readonly gave_up_requests: { readonly requests: number; readonly last: Reason };
  /** A bug: an error of this name was thrown here. */
  readonly internal_error: { readonly error: string };
  readonly channel_not_configured: { readonly channel: Channel };
  /** A late medium of a text could not be fetched; it is tried again. */
  readonly media_failed: { readonly medium: string; readonly failure: string };
  /** The reason was erased; the text says so. */
  readonly other: { readonly text: string };
}

interface PlatformAnswer {
  /** `http`, or why there is no usable answer: `timeout`, `network` (`platform-api/errors.ts`). */
  readonly failure: string;
  readonly status?: number;
  /** Of the request, without its query. */
  readonly path: string;
  /** The beginning of the platform's answer. It may quote the message, so it is never logged. */
  readonly answer?: string;
}

const PLAIN = [
  'several_from',
  'auto_generated',
  'no_sender',
  'dmarc',
  'unverified',
  'sender_not_checked',
  'postmaster',
  'auto_reply',
  'bounce',
  'complaint',
  'report',
  'loop',
  'bulk',
  'short_code',
  'impossible_number',
  'alphanumeric_sender',
  'whatsapp',
  'help_keyword',
  'joined_lane',
  'notice',
  'echo',
  'media_never_came',
  'opt_out',
  'opt_in',
  'unclear_answer',
  'cannot_be_answered',
  'contacts_not_readable',
  'no_such_contact',
  'media_postponed',
  'raw_damaged',
  'raw_missing',
  'raw_unreadable',
  'shop_not_configured',
] as const;
export type PlainCode = (typeof PLAIN)[number];
export type ReasonCode = Reason['code'];

/**
 * How the sentence of each code begins; without parameters, the whole sentence. A code that is not
 * listed is its own sentence: the name of a rule.
 */
const BEGINNINGS: Readonly<Partial<Record<PlainCode, string>> & Record<keyof Parameters, string>> =
  {
    sender_not_checked: 'the check of its sender has not ended',
    unclear_answer: 'the platform does not say whether it took the message',
    cannot_be_answered: 'cannot be answered: the platform refused the address',
    contacts_not_readable: 'contacts cannot be looked up',
    no_such_contact: 'no such contact',
    joined_lane: 'earlier messages of the same person come first',
    media_postponed: 'the SMS provider asked for a pause (Retry-After)',
    raw_damaged: 'its raw bytes are damaged: they are not what was received',
    raw_missing: 'its raw bytes are missing from the data folder',
    raw_unreadable: 'its raw bytes cannot be read now',
    shop_not_configured: 'its shop is not configured',
    rate_limit: 'over the limit for one sender: loop.',
    platform_answered: 'the platform answered ',
    gave_up: 'gave up after ',
    gave_up_requests: 'gave up after ',
    internal_error: 'it failed here: ',
    channel_not_configured: 'the shop has no ',
    media_failed: 'Media ',
    other: '',
  };

const beginning = (code: ReasonCode): string => BEGINNINGS[code] ?? code;

/** The reason in words, for commands, JSON and the console. */
export const sentence = (reason: Reason): string => beginning(reason.code) + restOf(reason);

function restOf(reason: Reason): string {
  if (reason.params === undefined) return '';
  switch (reason.code) {
    case 'rate_limit':
      return reason.params.limit;
    case 'platform_answered':
      return answerWords(reason.params);
    case 'gave_up':
      return `${reason.params.attempts} attempts; ${sentence(reason.params.last)}`;
    case 'gave_up_requests':
      return `${reason.params.requests} requests; ${sentence(reason.params.last)}`;
    case 'internal_error':
      return reason.params.error;
    case 'channel_not_configured':
      return `${reason.params.channel} in the configuration`;
    case 'media_failed':
      return `${reason.params.medium}: ${reason.params.failure}`;
    case 'other':
      return reason.params.text;
  }
}

function answerWords({ failure, status, path, answer }: PlatformAnswer): string {
  const what = status === undefined ? failure : `${status} (${failure})`;
  return `${what} to ${path}${answer === undefined ? '' : `: ${answer}`}`;
}

const WORDS_MAX_CHARS = 200;

/**
 * What the platform itself says in its answer: the message of an error in JSON, or the text without markup. Undefined if
 * it says nothing. For operators only, because it may quote a message.
 */
export function platformWords(reason: Reason): string | undefined {
  if (reason.code === 'gave_up' || reason.code === 'gave_up_requests') {
    return platformWords(reason.params.last);
  }
  if (reason.code !== 'platform_answered') return undefined;
  const { answer = '' } = reason.params;
  const words = (messageIn(answer) ?? answer.replace(/<[^<>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
  if (words === '') return undefined;
  return words.length > WORDS_MAX_CHARS ? `${words.slice(0, WORDS_MAX_CHARS)}…` : words;
}

/** The first of the usual fields for a message that has one. */
function messageIn(answer: string): string | undefined {
  // Without the quotes and brackets of an answer that was cut, its message can still be found.
  const field = /"(?:message|detail|title|error_description|error)"\s*:\s*(?=")/.exec(answer);
  const from = field === null ? '' : answer.slice(field.index + field[0].length);
  const [escaped] = /^"(?:[^"\\]|\\.)*"/.exec(from) ?? [];
  if (escaped === undefined) return undefined;
  try {
    const message: unknown = JSON.parse(escaped);
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The reason without texts that may quote the platform or a message: for logs and doctor. */
export function withoutQuotes(reason: Reason): Reason {
  if (reason.code === 'platform_answered') {
    const { answer: _answer, ...params } = reason.params;
    return { code: reason.code, params };
  }
  if (reason.code === 'gave_up') {
    return { ...reason, params: { ...reason.params, last: withoutQuotes(reason.params.last) } };
  }
  if (reason.code === 'gave_up_requests') {
    return { ...reason, params: { ...reason.params, last: withoutQuotes(reason.params.last) } };
  }
  return reason.code === 'other' ? { code: 'other', params: { text: '' } } : reason;
}

/** The reason as the detail of a timeline step and of a log line: `reason` is the code. */
export function reasonDetail(reason: Reason): Record<string, string | number> {
  const { params = {} } = withoutQuotes(reason);
  const scalars = Object.entries<unknown>({ ...params }).filter(
    (each): each is [string, string | number] => typeof each[1] !== 'object',
  );
  return { reason: reason.code, ...Object.fromEntries(scalars) };
}

/**
 * The reason with this code and these parameters, as `JSON.parse` or an API returned them.
 * Undefined if this program does not know the code.
 */
export function reasonOf(code: unknown, params: unknown): Reason | undefined {
  if (typeof code !== 'string') return undefined;
  if (PLAIN.some((plain) => plain === code)) return { code } as Reason;
  // Parameters were written by a program that knows the code.
  if (Object.hasOwn(BEGINNINGS, code) && isObject(params)) return { code, params } as Reason;
  return undefined;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/**
 * What a filter by this text selects: entries whose code, or whose sentence, begins with it.
 * `always`: every sentence of these codes does. `perhaps`: their sentences have to be compared.
 */
export function codesBeginning(text: string): {
  readonly always: readonly ReasonCode[];
  readonly perhaps: readonly ReasonCode[];
} {
  const always = CODES.filter((each) => each.startsWith(text) || beginning(each).startsWith(text));
  const perhaps = DETAILED.filter(
    (each) => !always.includes(each) && text.startsWith(beginning(each)),
  );
  return { always, perhaps };
}

const PLAIN_CODES: readonly ReasonCode[] = PLAIN;
export const CODES: readonly ReasonCode[] = [
  ...PLAIN_CODES,
  // The keys of an object literal of this type.
  ...(Object.keys(BEGINNINGS) as ReasonCode[]).filter((code) => !PLAIN_CODES.includes(code)),
];
const DETAILED = CODES.filter((code) => !PLAIN_CODES.includes(code));

/**
 * The reason that is shown to people. Entries of a shop that was removed from the configuration
 * have no reason in the store: they are not attempted, and delivery resumes when the shop is back.
 * @param isServed the entry's shop is configured now
 */
export function shownReason(
  { state, reason }: { readonly state: EntryState; readonly reason?: Reason },
  isServed: boolean,
): Reason | undefined {
  return state === 'queued' && !isServed ? { code: 'shop_not_configured' } : reason;
}
