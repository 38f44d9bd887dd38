import { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage, Message } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { lookUp } from './conversations.ts';
import { findByRemoteId, Later, mayHaveArrived, readAnswer, Refused, Unclear } from './answer.ts';
import { type Composed, nextRung, type Rung, without } from './compose.ts';
import { forbidden, type Submitted, type Work } from './work.ts';

/**
 * The maximum number of attempts for a message that is answered with 404 although its conversation
 * exists.
 */
const TRIES_WHILE_DENIED = 6;

export interface Submission extends Composed {
  /** The same with every attachment uploaded again: the platform's media ids may expire. */
  readonly anew: () => Promise<Composed>;
}

/**
 * Creates the message and handles the platform's answer:
 *
 * ```
 *  POST ──a message of ours──────────────────────▶ delivered
 *   ├──a 2xx that says nothing ──▶ look for it ──▶ delivered, or Later, or Unclear
 *   ├──no answer, 408, 425, 429, 5xx ────────────▶ Later
 *   ├──401, 403, 404, 405, 410, 3xx ─────────────▶ Forbidden
 *   ├──404, 410 and the conversation is gone ────▶ POST once more without it
 *   │                               exists ──────▶ Later; after several attempts POST without it
 *   └──400, 413, 415, 422 ──▶ the ladder, once ──▶ delivered or Refused
 * ```
 *
 * After a request without an answer the platform may have the message already. The next error
 * answer, unless it is temporary, counts only if the message is not in the platform's list.
 * @throws {Later} {Forbidden} {Refused} {Unclear}
 */
export async function submit(work: Work, submission: Submission): Promise<Submitted> {
  const { notes, spool, steps, claimed } = work;
  // An earlier attempt began the ladder; this one continues it.
  const { rung, rungs, climbed } = notes.value;
  if (!climbed && (rung !== undefined || rungs.length > 0)) return climb(work, submission);
  let { request } = submission;
  let answer = await post(work, request);
  if (!(answer instanceof PlatformError)) return { request, ...answer };
  const { id } = request.conversation;
  const state = id && readAnswer(answer, true) === 'gone' ? await lookUp(work, id) : 'unknown';
  // The 404 of a misrouting proxy is temporary, but a conversation that was split because of it
  // stays split.
  if (state === 'there' && claimed.entry.failures < TRIES_WHILE_DENIED) {
    throw new Later('messages', answer);
  }
  if (state !== 'unknown') {
    steps.add('conversation_gone', { status: answer.status ?? 0 });
    await spool.forgetConversation(claimed.entry);
    request = without('conversation', request);
    answer = await post(work, request);
    if (!(answer instanceof PlatformError)) return { request, ...answer };
  }
  if (readAnswer(answer) === 'forbidden') throw await forbidden(work, 'messages', answer);
  steps.add('refused', { status: answer.status ?? 0 });
  if (notes.value.climbed) throw new Refused(answer);
  const plain =
    request === submission.request ? submission.plain : without('conversation', submission.plain);
  return climb(work, { ...submission, request, plain }, answer);
}

/** Tries the remaining rungs, each once per entry. */
async function climb(
  work: Work,
  submission: Submission,
  refusal?: PlatformError,
): Promise<Submitted> {
  const { notes, steps } = work;
  let latest = refusal;
  let { request, plain } = submission;
  for (;;) {
    const named = [...new Set([...notes.value.named, ...(latest?.problem?.named ?? [])])];
    const { rungs } = notes.value;
    const rung = notes.value.rung ?? (notes.isSpent ? undefined : nextRung(request, rungs, named));
    if (rung === undefined) break;
    notes.set({ named, rung });
    if (rung === 'attachments_anew') ({ request, plain } = await submission.anew());
    steps.add('retried_otherwise', { rung });
    const tried = requestOf(rung, request, plain);
    const answer = await post(work, tried);
    if (!(answer instanceof PlatformError)) {
      return {
        request: tried,
        ...answer,
        ...(rung === 'address' && { caveat: { code: 'cannot_be_answered' } }),
      };
    }
    if (readAnswer(answer) === 'forbidden') throw await forbidden(work, 'messages', answer);
    notes.set({ rung: undefined, rungs: [...rungs, rung] });
    latest = answer;
  }
  notes.set({ climbed: true });
  // The first refusal is the response to the unchanged message.
  if (refusal !== undefined) throw new Refused(refusal);
  const answer = latest ?? (await post(work, request));
  if (!(answer instanceof PlatformError)) return { request, ...answer };
  throw new Refused(answer);
}

function requestOf(
  rung: Rung,
  request: CreateMessageRequest,
  plain: CreateMessageRequest,
): CreateMessageRequest {
  if (rung === 'attachments_anew') return request;
  return rung === 'plain_text' ? plain : without(rung, request);
}

/** The form of an answer with another message: the platform matched a duplicate differently. */
const OTHER = 'other';

type Taken = Pick<Submitted, 'message'>;

/**
 * Makes one create-message request. Returns the error of an answer that a second try would not
 * change.
 * @throws {Later} {Unclear}
 */
async function post(work: Work, request: CreateMessageRequest): Promise<Taken | PlatformError> {
  const answer = await create(work, request);
  if (!(answer instanceof PlatformError)) work.shop.delivered(work.claimed.entry.lane);
  return answer;
}

async function create(work: Work, request: CreateMessageRequest): Promise<Taken | PlatformError> {
  const { notes, steps, shop, spool } = work;
  try {
    if (notes.value.lookFirst) {
      const before = await look(work, request);
      if (before instanceof Found) return before;
      notes.set({ lookFirst: false });
    }
    const {
      message,
      form = '',
      status,
    } = await steps.timed('submit', () => createMessage(work, request));
    steps.add('submitted', { status });
    if (message !== undefined && isOurs(message, request)) {
      notes.set({ unanswered: false });
      if (status !== 409) await shop.answers.learnMessages(spool);
      return { message };
    }
    return await clear(work, request, message === undefined ? `${status} ${form}` : OTHER);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const found = notes.value.unanswered ? await look(work, request) : undefined;
    notes.set({ unanswered: false });
    return found instanceof Found ? found : error;
  }
}

function createMessage(
  { requests, notes, record, probes, unverifiedFrom }: Work,
  request: CreateMessageRequest,
) {
  record.request(request);
  return requests.call('messages', async (client, signal) => {
    const { posts } = notes.value;
    if (probes === undefined) notes.set({ posts: posts + 1 });
    try {
      return await client.createMessage(request, signal, unverifiedFrom);
    } catch (error) {
      if (error instanceof PlatformError && mayHaveArrived(error)) notes.set({ unanswered: true });
      // An error under 2xx: the message may be there all the same.
      if (error instanceof PlatformError && error.code === 'unexpected') {
        notes.set({ lookFirst: true });
      }
      // Not processed by the platform (RFC 6585 §4), so it does not count toward the budget.
      if (error instanceof PlatformError && error.status === 429) notes.set({ posts });
      throw error;
    }
  });
}

const isOurs = ({ remote_id }: CreatedMessage, { message }: CreateMessageRequest): boolean =>
  remote_id === undefined || remote_id === null || remote_id === message.remote_id;

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

/** The message as the platform lists it. */
class Found implements Taken {
  readonly message: Message;
  constructor(message: Message) {
    this.message = message;
  }
}

/** Looks for the message. `unreadable`: the read is refused, or its answer is not a list. */
async function look(
  { requests }: Work,
  { conversation, message }: CreateMessageRequest,
): Promise<Found | 'not listed' | 'unreadable'> {
  const { remote_id: remoteId } = message;
  if (!remoteId) return 'unreadable';
  const listed = await requests.ask(async (client, signal) => {
    const found = await findByRemoteId(client, remoteId, conversation.id ?? undefined, signal);
    return found === undefined ? 'not listed' : new Found(found);
  });
  return listed ?? 'unreadable';
}
