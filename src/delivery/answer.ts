import { type Reason, sentence, withoutQuotes } from '../domain/reasons.ts';
import type { PlatformError } from '../platform-api/errors.ts';
import type { HealthPart } from '../spool/shop-health.ts';

/**
 * What a platform's error says about the request.
 *
 * | kind | answers | what it may mean |
 * | --- | --- | --- |
 * | `later` | no answer, 408, 425, 429, 5xx, a 2xx that is no JSON | nothing about the message |
 * | `forbidden` | 401, 403, 405, 3xx; 404 and 410 where no conversation is named | the key or the URL, or a firewall that rejects this text |
 * | `gone` | 404 or 410 to a request that names a conversation | that conversation |
 * | `refused` | 400, 413, 415, 422 and any other 4xx | the message as it stands |
 */
export type AnswerKind = 'later' | 'forbidden' | 'gone' | 'refused';

const ANSWER_SHOWN_CHARS = 300;
const FORBIDDEN: readonly number[] = [401, 403, 404, 405, 410];

/** @param named the request named a resource by its id */
export function readAnswer(error: PlatformError, named = false): AnswerKind {
  // The id cannot be put into a request, so its resource can never be requested.
  if (error.code === 'invalid') return 'gone';
  const { status } = error;
  if (error.retryable || status === undefined) return 'later';
  if (named && (status === 404 || status === 410)) return 'gone';
  if (FORBIDDEN.includes(status) || (status >= 300 && status < 400)) return 'forbidden';
  return 'refused';
}

/** Whether the platform may have accepted the request although it failed. */
export function mayHaveArrived({ code, status = 0 }: PlatformError): boolean {
  return code === 'http' ? status >= 500 : code !== 'invalid';
}

/** The endpoint that failed. */
export type Part = HealthPart;

/** The answer as a reason. Its beginning may quote the message, so only operators see it. */
export function answered(error: PlatformError): Reason {
  const { code: failure, status, path, answer = '' } = error;
  return {
    code: 'platform_answered',
    params: {
      failure,
      ...(status !== undefined && { status }),
      path,
      ...(answer !== '' && { answer: answer.slice(0, ANSWER_SHOWN_CHARS) }),
    },
  };
}

/** An answer that ends the attempt. The message quotes nothing; the reason may, for operators. */
class AnswerFailure extends Error {
  readonly reason: Reason;
  constructor(error: PlatformError) {
    const reason = answered(error);
    super(sentence(withoutQuotes(reason)), { cause: error });
    this.reason = reason;
  }
}

/** A temporary failure: the request can be tried again later. */
export class Later extends AnswerFailure {
  override name = 'Later';
  readonly part: Part;
  readonly retryAfterMs: number | undefined;
  /** Status 429: too many requests, which is not caused by the message. */
  readonly isThrottled: boolean;
  readonly timedOut: boolean;
  constructor(part: Part, error: PlatformError) {
    super(error);
    this.part = part;
    this.retryAfterMs = error.retryAfterMs;
    this.isThrottled = error.status === 429;
    this.timedOut = error.code === 'timeout';
  }
}

/** The endpoint rejects this shop's request because of its key, its URL, or this text. */
export class Forbidden extends AnswerFailure {
  override name = 'Forbidden';
  readonly part: Part;
  /** The platform refuses reads, too, so the key or the URL is at fault and not the message. */
  readonly isTheShop: boolean;
  constructor(part: Part, error: PlatformError, isTheShop: boolean) {
    super(error);
    this.part = part;
    this.isTheShop = isTheShop;
  }
}

/** The platform refuses this message after every change that was tried. */
export class Refused extends AnswerFailure {
  override name = 'Refused';
  /** Status, code and field names; equal for all entries that are refused for the same reason. */
  readonly words: string;
  constructor(error: PlatformError) {
    super(error);
    const { code = '', named = [] } = error.problem ?? {};
    this.words = [error.status ?? 0, code, ...named].filter((word) => word !== '').join(' ');
  }
}

/** A 2xx that does not confirm the message, and no other evidence of it. */
export class Unclear extends Error {
  override name = 'Unclear';
}

/** The media endpoint is in trouble, so no upload was tried. */
export class MediaPaused extends Error {
  override name = 'MediaPaused';
}

/** Delivered, but the conversation is not known yet. Only the lookup is repeated. */
export class NotLearned extends Error {
  override name = 'NotLearned';
  readonly reason: Reason;
  constructor(cause: Later) {
    super(cause.message, { cause });
    this.reason = withoutQuotes(cause.reason);
  }
}
