import type { PlatformError } from '../platform-api/errors.ts';

/**
 * What a platform error asks for (`docs/architecture.md`, "Calling the platform"):
 * - `later`: nothing is wrong with the entry, try it again
 * - `credentials`: perhaps the configuration, perhaps a firewall that dislikes this one text
 * - `gone`: the conversation it names may not exist any more
 * - `refused`: the request as it stands
 */
export type Answered = 'later' | 'credentials' | 'gone' | 'refused';

/** Reads one error of a create-message or create-event call. */
export function readAnswer(error: PlatformError): Answered {
  // An id that no request can name: whatever had it cannot be asked for, now or later.
  if (error.code === 'invalid') return 'gone';
  if (error.retryable || error.status === undefined) return 'later';
  if (error.status === 404 || error.status === 410) return 'gone';
  if (error.status === 401 || error.status === 403 || error.status === 405) return 'credentials';
  if (error.status >= 300 && error.status < 400) return 'credentials';
  return 'refused';
}

/** The platform does not take this shop's key or URL: an operator has to mend it, nothing is lost. */
export class ConfigurationFault extends Error {
  override name = 'ConfigurationFault';
}

/** The platform will not take this entry, whatever we try. */
export class Refused extends Error {
  override name = 'Refused';
  readonly status: number;
  /** The platform's words, for the operator; may quote the message, so it is never logged. */
  readonly answer: string;
  constructor(error: PlatformError) {
    super(`the platform answered ${error.status ?? 0} to ${error.path}`, { cause: error });
    this.status = error.status ?? 0;
    this.answer = error.answer ?? '';
  }
}

/** Which part of the platform has trouble; each has a breaker of its own. */
export type Part = 'messages' | 'media';

/** Try again later. */
export class Later extends Error {
  override name = 'Later';
  readonly part: Part;
  readonly retryAfterMs: number | undefined;
  constructor(part: Part, error: PlatformError) {
    super(describe(error), { cause: error });
    this.part = part;
    this.retryAfterMs = error.retryAfterMs;
  }
}

/** The breaker of a part is open: no request was made. */
export class Paused extends Error {
  override name = 'Paused';
  readonly until: number;
  constructor(part: Part, until: number) {
    super(`deliveries to /${part}/ are paused`);
    this.until = until;
  }
}

function describe(error: PlatformError): string {
  const what = error.status === undefined ? error.code : `${error.status} (${error.code})`;
  return `the platform answered ${what} to ${error.path}`;
}
