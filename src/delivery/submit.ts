import { PlatformError } from '../platform-api/errors.ts';
import { lookUp } from './conversations.ts';
import { Later, readAnswer, Refused } from './answer.ts';
import { type Composed, nextForm, without } from './compose.ts';
import { post } from './post.ts';
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
 * Creates the message and handles the platform's answer (`post.ts` has the requests themselves):
 *
 * ```
 *  POST ──done───────────────────────────────────▶ delivered
 *   ├──401, 403, 404, 405, 410, 3xx ─────────────▶ Forbidden
 *   ├──404, 410 and the conversation is gone ────▶ POST once more without it
 *   │                               exists ──────▶ Later; after several attempts POST without it
 *   └──400, 409, 413, 415, 422 ──▶ the ladder, once ──▶ delivered or Refused
 * ```
 * @throws {Later} {Forbidden} {Refused} {Unclear} {LookFailed}
 */
export async function submit(work: Work, submission: Submission): Promise<Submitted> {
  const { notes, spool, steps, claimed } = work;
  // An earlier attempt began the ladder; this one continues it.
  const { form, forms, climbed } = notes.value;
  if (!climbed && (form !== undefined || forms.length > 0)) return climb(work, submission);
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
    request = without(['conversation'], request);
    answer = await post(work, request);
    if (!(answer instanceof PlatformError)) return { request, ...answer };
  }
  if (readAnswer(answer) === 'forbidden') throw await forbidden(work, 'messages', answer);
  steps.add('refused', { status: answer.status ?? 0 });
  if (notes.value.climbed) throw new Refused(answer);
  const plain =
    request === submission.request ? submission.plain : without(['conversation'], submission.plain);
  return climb(work, { ...submission, request, plain }, answer);
}

/** Tries the remaining forms, each once per entry. */
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
    const { forms } = notes.value;
    const form = notes.value.form ?? (notes.isSpent ? undefined : nextForm(request, forms, named));
    if (form === undefined) break;
    notes.set({ named, form });
    if (form.includes('attachments_anew')) ({ request, plain } = await submission.anew());
    steps.add('retried_otherwise', { rung: form.join('+') });
    const tried = without(form, form.includes('plain_text') ? plain : request);
    const answer = await post(work, tried);
    if (!(answer instanceof PlatformError)) {
      return {
        request: tried,
        ...answer,
        ...(form.includes('address') && { caveat: { code: 'cannot_be_answered' } }),
      };
    }
    if (readAnswer(answer) === 'forbidden') throw await forbidden(work, 'messages', answer);
    notes.set({ form: undefined, forms: [...forms, form] });
    latest = answer;
  }
  notes.set({ climbed: true });
  // The first refusal is the response to the unchanged message.
  if (refusal !== undefined) throw new Refused(refusal);
  const answer = latest ?? (await post(work, request));
  if (!(answer instanceof PlatformError)) return { request, ...answer };
  throw new Refused(answer);
}
