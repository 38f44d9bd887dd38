import type { CreateMessageResult, PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { type CreatedMessage, createdMessageSchema } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import {
  findByRemoteId,
  hasNoOtherName,
  Later,
  LookFailed,
  mayHaveArrived,
  platformErrorOf,
  readAnswer,
  Unclear,
} from './answer.ts';
import { assertNoWait, type Submitted, type Work } from './work.ts';

/** After so many looks that failed the message is sent; after fewer if others are delivered. */
const LOOKS = { atMost: 3, whileDelivering: 2 };
/** Within ten minutes. Then the messages of this shop count as not readable. */
const READS_AT_MOST = 20;

/** The form of an answer with another message: the platform matched a duplicate differently. */
const OTHER = 'other';

type Taken = Pick<Submitted, 'message'>;

/**
 * Makes one create-message request. Returns the error of an answer that a second try would not change.
 *
 * What is known of the message, between the first request and the stored outcome:
 *
 * | state | left by | stored as |
 * | --- | --- | --- |
 * | not sent | a request: written | |
 * | written | an answer: delivered, refused, or nothing arrived; none: unknown | the claim itself: one that ends without an outcome counts as unknown (`Claimed.isUnended`), so that no request waits for a commit |
 * | unknown | a look before the next request: listed is delivered; not listed, or given up, is not sent | `lookFirst`; `unanswered`, since the request may still arrive |
 * | delivered, refused | nothing | the outcome |
 *
 * | answer | means |
 * | --- | --- |
 * | a message with our `remote_id` or none | delivered |
 * | an id, and nothing else of a message | the message is read: ours is delivered; 404 is unknown; without an answer it is read again, for up to ten minutes for the first of a shop; not readable is delivered, with an alarm |
 * | no id | looked up; not listed is `Unclear`, or unknown if the platform has answered with messages |
 * | 409 with our message | delivered; another one is looked up, and not listed is refused |
 * | a 2xx that reports an error | looked up; not listed is refused if it names fields, else unknown |
 * | no answer, 408, 5xx, a 2xx that is no JSON | unknown |
 * | no connection, 429, 503 with Retry-After | not sent |
 * | any other | refused; if unknown before, looked up first, and still unknown where no list can be read |
 * @throws {Later} {Unclear} {LookFailed}
 */
export async function post(
  work: Work,
  request: CreateMessageRequest,
): Promise<Taken | PlatformError> {
  const delivered = work.shop.sent(work.claimed.entry.lane);
  const answer = await create(work, request);
  if (!(answer instanceof PlatformError)) delivered();
  return answer;
}

async function create(work: Work, request: CreateMessageRequest): Promise<Taken | PlatformError> {
  const { notes, steps } = work;
  const { unread } = notes.value;
  if (unread !== undefined) return confirm(work, request, { id: unread.id }, unread.form);
  let sent: Found | CreateMessageResult;
  try {
    sent = await steps.timed('submit', () => send(work, request));
  } catch (error) {
    return failed(work, request, error);
  }
  if (sent instanceof Found) return sent;
  steps.add('submitted', { status: sent.status });
  try {
    return await readResult(work, request, sent);
  } catch (error) {
    // A stop, or the store failed: it is not known yet what the answer means.
    const isRead = [Later, LookFailed, Unclear].some((kind) => error instanceof kind);
    if (!isRead) notes.set({ unanswered: true, lookFirst: true });
    throw error;
  }
}

async function readResult(
  work: Work,
  request: CreateMessageRequest,
  { message, form, status, refusal }: CreateMessageResult,
): Promise<Taken | PlatformError> {
  const { notes, shop, spool } = work;
  if (refusal !== undefined) {
    const { unanswered, unclear } = notes.value;
    const isKnown = Boolean(message?.remote_id) || unanswered || unclear > 0;
    if (message !== undefined && isKnown && isOurs(message, request)) return { message };
    const found = await look(work, request);
    return found instanceof Found ? found : refusal;
  }
  if (message === undefined) return clear(work, request, `${status} ${form}`);
  if (!hasNoOtherName(message, request)) return clear(work, request, OTHER);
  if (form !== undefined) return confirm(work, request, message, `${status} ${form}`);
  notes.set({ unanswered: false });
  await shop.answers.learnMessages(spool);
  return { message };
}

async function failed(
  work: Work,
  request: CreateMessageRequest,
  error: unknown,
): Promise<Found | PlatformError> {
  const { notes } = work;
  const answer = platformErrorOf(error);
  if (answer === undefined) throw error;
  const isRefusal = answer === error;
  let { unanswered } = notes.value;
  if (answer.code === 'reports_error' || (isRefusal && unanswered)) {
    const found = await look(work, request);
    if (found instanceof Found) return found;
    // A list that cannot be read does not show that an earlier request has not arrived.
    unanswered &&= found === 'unreadable';
  }
  if (!isRefusal) throw error;
  notes.set({ unanswered, lookFirst: false });
  return answer;
}

/** Each try looks first if an earlier request may have arrived. */
async function send(
  work: Work,
  request: CreateMessageRequest,
): Promise<Found | CreateMessageResult> {
  const { requests, notes, record, probes, unverifiedFrom, isEcho } = work;
  record.request(request);
  return requests.call('messages', async (client, signal, confirm) => {
    assertNoWait(work);
    if (notes.value.lookFirst) {
      const found = await lookFirst(work, client, request, signal);
      if (found !== undefined) return found;
      await confirm();
    }
    const { posts } = notes.value;
    if (probes === undefined) notes.set({ posts: posts + 1 });
    try {
      return await client.createMessage(request, signal, { unverifiedFrom, isEcho });
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (mayHaveArrived(error)) notes.set({ unanswered: true, lookFirst: true });
      // Not processed by the platform (RFC 6585 §4), so it does not count toward the budget.
      if (error.status === 429) notes.set({ posts });
      throw error;
    }
  });
}

/**
 * Looks for the message before it is sent again. Undefined: it may be sent.
 * @throws {LookFailed} the look is repeated first
 */
async function lookFirst(
  work: Work,
  client: PlatformClient,
  request: CreateMessageRequest,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const { notes, shop, spool, steps, claimed, probes } = work;
  for (;;) {
    try {
      const found = await lookWith(work, client, request, signal);
      notes.set({ lookFirst: false, looksFailed: 0 });
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError)) throw error;
      // Where no list was ever read, the key may not permit it.
      const isReadable = await shop.answers.isListed(spool);
      const failed = notes.value.looksFailed + 1;
      const delivers = shop.health.messages.lastDeliveredAt > claimed.entry.lastAttemptAt;
      if (!isReadable || failed >= (delivers ? LOOKS.whileDelivering : LOOKS.atMost)) {
        notes.set({ lookFirst: false, looksFailed: 0 });
        if (isReadable) steps.add('look_given_up', { status: error.status ?? 0 });
        return undefined;
      }
      notes.set({ looksFailed: failed });
      // A probe ends in a request.
      if (probes === undefined) throw new LookFailed(error);
    }
  }
}

/** @throws {PlatformError} the list cannot be read */
async function lookWith(
  { claimed, shop, spool, steps }: Work,
  client: PlatformClient,
  { conversation, message }: CreateMessageRequest,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const { remote_id: remoteId } = message;
  if (!remoteId) return undefined;
  const { receivedAt } = claimed.entry;
  const among = (conversationId?: string) =>
    findByRemoteId(client, shop.answers, { remoteId, receivedAt, conversationId, signal });
  // An earlier request may have named another conversation, or none.
  const there = conversation.id ? await among(conversation.id) : undefined;
  const found = there ?? (await among());
  await shop.answers.learnList(spool);
  if (found === undefined) return undefined;
  steps.add('found');
  return new Found(createdMessageSchema.parse(found));
}

/** Looks for the message. `unreadable`: the read is refused, or its answer is not a list. */
async function look(
  work: Work,
  request: CreateMessageRequest,
): Promise<Found | 'not listed' | 'unreadable'> {
  const listed = await work.requests.ask(
    async (client, signal) => (await lookWith(work, client, request, signal)) ?? 'not listed',
  );
  return listed ?? 'unreadable';
}

/** The message as the platform lists it. */
class Found implements Taken {
  readonly message: CreatedMessage;
  constructor(message: CreatedMessage) {
    this.message = message;
  }
}

/** It has our `remote_id`, or none and our content. */
const isOurs = (found: CreatedMessage, request: CreateMessageRequest): boolean =>
  hasNoOtherName(found, request) && (Boolean(found.remote_id) || hasContent(found, request));

/** Platforms change spaces and markup. */
const hasContent = ({ content }: CreatedMessage, { message }: CreateMessageRequest): boolean =>
  typeof content === 'string' && lettersOf(content) === lettersOf(message.content);

const lettersOf = (text: string) => text.replace(/<[^<>]*>/g, '').replace(/[^\p{L}\p{N}]/gu, '');

/** Handles a 2xx with an id and nothing else of a message: reads the message, once. */
async function confirm(
  work: Work,
  request: CreateMessageRequest,
  { id }: CreatedMessage,
  form: string,
): Promise<Taken> {
  const { shop, spool, notes, requests, steps } = work;
  if (await shop.answers.isTaken(form, spool)) return { message: { id } };
  let message: CreatedMessage | undefined;
  try {
    message =
      typeof id === 'string'
        ? createdMessageSchema.parse(
            // A probe uses the full timeout, too: the message is most likely delivered.
            await requests.call('messages', (_, signal) => shop.client.getMessage(id, signal), {
              once: true,
            }),
          )
        : undefined;
  } catch (error) {
    const answer = platformErrorOf(error);
    if (answer === undefined) throw error;
    if (answer.status === 404 || answer.status === 410) {
      notes.set({ unread: undefined, unanswered: true, lookFirst: true });
      throw new Later('messages', answer);
    }
    const failed = notes.value.looksFailed + 1;
    if (typeof id === 'string' && failed < (await mostReads(work, answer))) {
      notes.set({ unread: { id, form }, looksFailed: failed });
      throw new LookFailed(answer);
    }
  }
  notes.set({ unread: undefined, looksFailed: 0 });
  if (!message?.remote_id && typeof message?.content !== 'string') {
    // Nothing says that it is not there, and nothing that it is.
    if (await shop.answers.mayWarn(spool)) work.alarm('unconfirmed_answers');
    return { message: { id } };
  }
  if (!isOurs(message, request)) return clear(work, request, OTHER);
  steps.add('confirmed');
  await shop.answers.found(form, spool);
  return { message };
}

/** How many times a message is read after such an answer. */
async function mostReads({ shop, spool }: Work, answer: PlatformError): Promise<number> {
  const isLater = readAnswer(answer) === 'later';
  if (await shop.answers.hasWarned(spool)) return isLater ? LOOKS.atMost : 1;
  // What was permitted before may soon be permitted again.
  const isTemporary =
    isLater || (await shop.answers.isListed(spool)) || (await shop.checkReadsAnew()) === 'failed';
  return isTemporary ? READS_AT_MOST : LOOKS.atMost;
}

/**
 * Handles a 2xx that does not confirm this message.
 * @param form status and form of the body; `OTHER` if the answer is a different message
 */
async function clear(work: Work, request: CreateMessageRequest, form: string): Promise<Taken> {
  const { shop, spool, notes, steps } = work;
  const { answers } = shop;
  if (form !== OTHER) {
    if (await answers.isTaken(form, spool)) return { message: undefined };
    if ((await answers.isWithMessages(spool)) && !notes.value.unanswered) {
      // The next attempt finds it there if the platform had acted, now or before.
      notes.set({ unanswered: true, lookFirst: true });
      throw new Later('messages', emptyAnswer());
    }
  }
  steps.add('unclear_answer', { form });
  notes.set({ lookFirst: true });
  const found = await look(work, request);
  notes.set({ lookFirst: false });
  // Says something about this form only if no earlier request can have created the message.
  const says = form !== OTHER && !notes.value.unanswered;
  if (!(found instanceof Found)) {
    if (says && found === 'not listed') await answers.notFound(form, spool);
    if (form !== OTHER && (await answers.isWithMessages(spool))) {
      throw new Later('messages', emptyAnswer());
    }
    // Later attempts submit and look for it again, up to three times.
    throw new Unclear();
  }
  if (says) await answers.found(form, spool);
  return found;
}

function emptyAnswer(): PlatformError {
  const path = '/v2026-04/messages/';
  return new PlatformError({ code: 'unexpected', method: 'POST', path, status: 200 });
}
