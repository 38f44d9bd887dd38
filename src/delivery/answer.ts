import { createHash } from 'node:crypto';
import type { ShopId } from '../domain/ids.ts';
import { type Reason, sentence, withoutQuotes } from '../domain/reasons.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { isNeverSent } from '../platform-api/retries.ts';
import type { CreatedMessage, Message } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { DeliverySpool } from '../spool/spool.ts';
import { isTemporary } from './kept-outcome.ts';

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
export function mayHaveArrived(error: PlatformError): boolean {
  const { code, status = 0, retryAfterMs } = error;
  if (code !== 'http') return code !== 'invalid' && !isNeverSent(error);
  if (status === 503) return retryAfterMs === undefined;
  return status >= 500 || status === 408;
}

/** The platform's answer that an error is or tells of. */
export function platformErrorOf(error: unknown): PlatformError | undefined {
  const found = error instanceof Later ? error.cause : error;
  return found instanceof PlatformError ? found : undefined;
}

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
  readonly endpoint: Endpoint;
  readonly retryAfterMs: number | undefined;
  /** Status 429: too many requests, which is not caused by the message. */
  readonly isThrottled: boolean;
  readonly timedOut: boolean;
  constructor(endpoint: Endpoint, error: PlatformError) {
    super(error);
    this.endpoint = endpoint;
    this.retryAfterMs = error.retryAfterMs;
    this.isThrottled = error.status === 429;
    this.timedOut = error.code === 'timeout';
  }
}

/** The endpoint rejects this shop's request because of its key, its URL, or this text. */
export class Forbidden extends AnswerFailure {
  override name = 'Forbidden';
  readonly endpoint: Endpoint;
  /** The platform refuses reads, too, so the key or the URL is at fault and not the message. */
  readonly isTheShop: boolean;
  constructor(endpoint: Endpoint, error: PlatformError, isTheShop: boolean) {
    super(error);
    this.endpoint = endpoint;
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

/** The list could not be read in which the message is looked for before it is sent again. */
export class LookFailed extends Error {
  override name = 'LookFailed';
  readonly reason: Reason;
  constructor(error: PlatformError) {
    super('the list of messages cannot be read', { cause: error });
    this.reason = withoutQuotes(answered(error));
  }
}

/** The media endpoint is in trouble, so no upload was tried. */
export class MediaPaused extends Error {
  override name = 'MediaPaused';
}

/** The platform has announced a wait since the attempt began, so no request was made. */
export class WaitAnnounced extends Error {
  override name = 'WaitAnnounced';
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

/** The store's permanent marks. */
type Marks = Pick<DeliverySpool, 'mark' | 'setMark' | 'raiseMark'>;

/**
 * How often the message must be found after one form of answer before it counts as success. A proxy that empties answers
 * before and after the platform acts would have to do the latter this often in a row.
 */
const TIMES_SEEN = 12;
/** More forms than a platform and its proxies have. Further ones are not learned. */
const MAX_FORMS = 20;

/** What cannot be stored now is learned from a later message; the outcome of this one is known. */
async function unlessDown<T>(learning: Promise<T>): Promise<T | undefined> {
  try {
    return await learning;
  } catch (error) {
    if (isTemporary(error)) return undefined;
    throw error;
  }
}

/**
 * Learns what a platform's answers to create-message mean (API §4.7 rule 6 does not show them), per
 * shop, platform URL and form of answer; stored across restarts, and shared by all gateways. At most
 * one form counts as success: the first one after which the message was found `TIMES_SEEN` times
 * and never missing.
 */
export class LearnedAnswers {
  readonly #prefix: string;
  /** What was learned once and stays so. */
  readonly #known = new Set<string>();
  /** Set if the platform refuses the size of a page. */
  hasOwnPageSize = false;

  constructor(shopId: ShopId, platformUrl: string) {
    const url = createHash('sha256').update(platformUrl).digest('hex').slice(0, 16);
    // Marks of `answer/` were made after five times.
    this.#prefix = `answers/${shopId}/${url}`;
  }

  /** Whether the platform ever answered with a message. Any other answer is then a proxy's. */
  isWithMessages(marks: Marks): Promise<boolean> {
    return this.#isKnown('message', marks);
  }

  learnMessages(marks: Marks): Promise<void> {
    return unlessDown(this.#learn('message', marks));
  }

  /** Whether the list of messages was ever read: a look that fails is then a failure, not a refusal. */
  isListed(marks: Marks): Promise<boolean> {
    return this.#isKnown('list', marks);
  }

  learnList(marks: Marks): Promise<void> {
    return unlessDown(this.#learn('list', marks));
  }

  async #isKnown(what: string, marks: Marks): Promise<boolean> {
    if (this.#known.has(what)) return true;
    if ((await marks.mark(this.#named(what))) === undefined) return false;
    this.#known.add(what);
    return true;
  }

  async #learn(what: string, marks: Marks): Promise<void> {
    if (await this.#isKnown(what, marks)) return;
    await marks.setMark(this.#named(what), 1);
    this.#known.add(what);
  }

  /** Once: whether to warn that nothing confirms this platform's answers. */
  async mayWarn(marks: Marks): Promise<boolean> {
    return (await unlessDown(marks.raiseMark(this.#named('warned'), 1))) ?? false;
  }

  hasWarned(marks: Marks): Promise<boolean> {
    return this.#isKnown('warned', marks);
  }

  /** Whether this form has been learned to mean success. */
  async isTaken(form: string, marks: Marks): Promise<boolean> {
    // Read each time: another gateway may have missed a message after it.
    return ((await marks.mark(this.#named(form))) ?? 0) >= TIMES_SEEN;
  }

  /** The message was found after an answer of this form. */
  found(form: string, marks: Marks): Promise<void> {
    return unlessDown(this.#found(form, marks));
  }

  async #found(form: string, marks: Marks): Promise<void> {
    const name = this.#named(form);
    const times = await marks.mark(name);
    if ((times ?? 0) < 0 || (times === undefined && !(await this.#mayLearn(marks)))) return;
    if (await marks.raiseMark(name, TIMES_SEEN - 1)) return;
    // The last time counts only for the first form that gets there.
    if (await marks.raiseMark(this.#named('taken'), 1)) await marks.raiseMark(name, TIMES_SEEN);
  }

  /** The message was missing after an answer of this form: the form never counts as success. */
  async notFound(form: string, marks: Marks): Promise<void> {
    const name = this.#named(form);
    const times = await marks.mark(name);
    if (times === -1 || (times === undefined && !(await this.#mayLearn(marks)))) return;
    await marks.setMark(name, -1);
  }

  /**
   * Limits the number of forms, because marks are never deleted and the platform chooses its
   * answers.
   */
  #mayLearn(marks: Marks): Promise<boolean> {
    return marks.raiseMark(this.#named('forms'), MAX_FORMS);
  }

  #named(what: string): string {
    return `${this.#prefix}/${what}`;
  }
}

/** It has our `remote_id`, or none. */
export const hasNoOtherName = (
  { remote_id: name }: Pick<CreatedMessage, 'remote_id'>,
  { message }: CreateMessageRequest,
): boolean => name === undefined || name === null || name === message.remote_id;

const PAGES_AT_LEAST = 4;
/** A busy shop's 4,000 newest messages. */
const PAGES_AT_MOST = 40;
const CLOCKS_DIFFER_MS = 60_000;
const MESSAGES_A_PAGE = 100;

/**
 * Finds our message in the platform's list: in its conversation if that is known, otherwise among all
 * messages. Reads four pages (the list's order is not documented), and more of them as long as all
 * messages of a page are later than ours was received.
 * @throws {PlatformError} the list cannot be read
 */
export async function findByRemoteId(
  client: PlatformClient,
  answers: LearnedAnswers,
  {
    remoteId,
    receivedAt,
    conversationId,
    signal,
  }: {
    readonly remoteId: string;
    /** Of our message. */
    readonly receivedAt: number;
    readonly conversationId?: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Message | undefined> {
  const query = {
    ...(!answers.hasOwnPageSize && { limit: MESSAGES_A_PAGE }),
    ...(conversationId !== undefined && { conversation_id: conversationId }),
  };
  const earliest = receivedAt - CLOCKS_DIFFER_MS;
  let read = 0;
  try {
    for await (const { results } of client.messagePages(query, signal)) {
      const found = results.find(({ remote_id }) => remote_id === remoteId);
      if (found !== undefined) return found;
      read += 1;
      const isLater = results.every(({ created_at: at }) => Date.parse(at ?? '') > earliest);
      if (read === PAGES_AT_MOST || (read >= PAGES_AT_LEAST && !isLater)) break;
    }
  } catch (error) {
    const isRefused =
      error instanceof PlatformError && (error.status === 400 || error.status === 422);
    if (!isRefused || answers.hasOwnPageSize || read > 0) throw error;
    answers.hasOwnPageSize = true;
    return findByRemoteId(client, answers, { remoteId, receivedAt, conversationId, signal });
  }
  return undefined;
}
