/**
 * Reads the reasons that were stored as sentences, for the migration that makes them data. It
 * describes what earlier versions wrote, so it does not change with `domain/reasons.ts`.
 */

interface Coded {
  readonly code: string;
  readonly params?: object;
}

/** The sentences without parameters. */
const CODES: ReadonlyMap<string, string> = new Map([
  ...`several_from no_sender dmarc unverified postmaster bounce loop bulk whatsapp`
    .split(' ')
    .map((code) => [code, code] as const),
  ...`auto-generated auto-reply short-code impossible-number alphanumeric-sender help-keyword
    media-never-came opt-out opt-in`
    .split(/\s+/)
    .map((name) => [name, name.replaceAll('-', '_')] as const),
  ['the platform does not say whether it took the message', 'unclear_answer'],
  ['cannot be answered: the platform refused the address', 'cannot_be_answered'],
  ['no such contact', 'no_such_contact'],
  ['contacts cannot be looked up', 'contacts_not_readable'],
  ['Twilio asked for a pause (Retry-After)', 'media_postponed'],
  ['its raw bytes are damaged: they are not what was received', 'raw_damaged'],
  ['its raw bytes are missing from the data folder', 'raw_missing'],
]);

const LIMIT = /^loop: (\w+)$/;
const ANSWER =
  /^the platform answered (?:(?<status>\d{3})(?: \((?<failure>\w+)\))?|(?<cause>[a-z_]+)) to (?<path>\S+?)(?:: (?<answer>[^]*))?$/;
const GAVE_UP = /^gave up after (\d+) (attempts|requests); ([^]*)$/;
const FAILED_HERE = /^it failed here: (\w+)$/;
const NO_CHANNEL = /^the shop has no (email|sms|web_chat) in the configuration$/;
const MEDIA = /^Media (\S+): (\S+)$/;

/** The stored form of a reason that was the given sentence. */
export const codedReason = (stored: string): string => JSON.stringify(read(stored));

function read(text: string): Coded {
  const code = CODES.get(text);
  return code === undefined ? readDetailed(text) : { code };
}

function readDetailed(text: string): Coded {
  const answer = ANSWER.exec(text)?.groups;
  if (answer !== undefined) return answered(answer);
  const [, count, unit, last] = GAVE_UP.exec(text) ?? [];
  if (last !== undefined) {
    return unit === 'attempts'
      ? { code: 'gave_up', params: { attempts: Number(count), last: read(last) } }
      : { code: 'gave_up_requests', params: { requests: Number(count), last: read(last) } };
  }
  const [, limit] = LIMIT.exec(text) ?? [];
  if (limit !== undefined) return { code: 'rate_limit', params: { limit } };
  const [, error] = FAILED_HERE.exec(text) ?? [];
  if (error !== undefined) return { code: 'internal_error', params: { error } };
  const [, channel] = NO_CHANNEL.exec(text) ?? [];
  if (channel !== undefined) return { code: 'channel_not_configured', params: { channel } };
  const [, medium, failure] = MEDIA.exec(text) ?? [];
  if (medium !== undefined && failure !== undefined) {
    return { code: 'media_failed', params: { medium, failure: failure.replaceAll('-', '_') } };
  }
  return { code: 'other', params: { text } };
}

function answered(found: Readonly<Record<string, string | undefined>>): Coded {
  const { status, failure = 'http', cause, path, answer } = found;
  const outcome = status === undefined ? { failure: cause } : { failure, status: Number(status) };
  return {
    code: 'platform_answered',
    params: { ...outcome, path, ...(answer !== undefined && { answer }) },
  };
}

/** A stored health of a shop, in which `reason` was a sentence, too. */
export function healthWithCodes(stored: string): string {
  return JSON.stringify(
    JSON.parse(stored, (key, value: unknown) =>
      key === 'reason' && typeof value === 'string' ? read(value) : value,
    ),
  );
}
