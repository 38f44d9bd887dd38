import { createHash } from 'node:crypto';
import type { PlatformClient } from '../platform-api/client.ts';
import type { Message } from '../platform-api/resources.ts';
import type { Spool } from '../spool/spool.ts';
import type { ShopId } from '../domain/ids.ts';

const PAGES_READ = 4;
const MESSAGES_A_PAGE = 50;

/** The store's permanent marks. */
type Marks = Pick<Spool, 'mark' | 'setMark'>;

/** How often the message must be found after one form of answer before it counts as success. */
const TIMES_SEEN = 5;
/** More forms than a platform and its proxies have. Further ones are not learned. */
const MAX_FORMS = 20;

/**
 * Learns what a platform's answers to create-message mean (API §4.7 rule 6 does not show them), per
 * shop, platform URL and form of answer; stored across restarts. At most one form counts as
 * success: the first one after which the message was found `TIMES_SEEN` times and never missing.
 */
export class LearnedAnswers {
  readonly #prefix: string;
  readonly #known = new Map<string, number>();

  constructor(shopId: ShopId, platformUrl: string) {
    const url = createHash('sha256').update(platformUrl).digest('hex').slice(0, 16);
    this.#prefix = `answer/${shopId}/${url}`;
  }

  /** Whether the platform ever answered with a message. Any other answer is then a proxy's. */
  async isWithMessages(marks: Marks): Promise<boolean> {
    return (await this.#get('message', marks)) !== undefined;
  }

  async learnMessages(marks: Marks): Promise<void> {
    if (!(await this.isWithMessages(marks))) await this.#set('message', 1, marks);
  }

  /** Whether this form has been learned to mean success. */
  async isTaken(form: string, marks: Marks): Promise<boolean> {
    return ((await this.#get(form, marks)) ?? 0) >= TIMES_SEEN;
  }

  /** The message was found after an answer of this form. */
  async found(form: string, marks: Marks): Promise<void> {
    const times = (await this.#get(form, marks)) ?? 0;
    if (times < 0 || times >= TIMES_SEEN) return;
    const isLast = times + 1 === TIMES_SEEN;
    if (isLast && (await this.#get('taken', marks)) !== undefined) return;
    if (!(await this.#mayLearn(form, marks))) return;
    await this.#set(form, times + 1, marks);
    if (isLast) await this.#set('taken', 1, marks);
  }

  /** The message was missing after an answer of this form: the form never counts as success. */
  async notFound(form: string, marks: Marks): Promise<void> {
    if ((await this.#get(form, marks)) === -1) return;
    if (await this.#mayLearn(form, marks)) await this.#set(form, -1, marks);
  }

  /** Limits the forms: marks are kept for ever, and the platform chooses its answers. */
  async #mayLearn(form: string, marks: Marks): Promise<boolean> {
    if ((await this.#get(form, marks)) !== undefined) return true;
    const forms = (await this.#get('forms', marks)) ?? 0;
    if (forms >= MAX_FORMS) return false;
    await this.#set('forms', forms + 1, marks);
    return true;
  }

  async #get(what: string, marks: Marks): Promise<number | undefined> {
    const known = this.#known.get(what) ?? (await marks.mark(`${this.#prefix}/${what}`));
    // Names without a mark are not cached: their number is unbounded.
    if (known !== undefined) this.#known.set(what, known);
    return known;
  }

  async #set(what: string, value: number, marks: Marks): Promise<void> {
    this.#known.set(what, value);
    await marks.setMark(`${this.#prefix}/${what}`, value);
  }
}

/**
 * Finds our message in the platform's list: in its conversation if that is known, otherwise in the
 * first pages of all messages (the list's order is not documented).
 */
export async function findByRemoteId(
  client: PlatformClient,
  remoteId: string,
  conversationId: string | undefined,
  signal: AbortSignal,
): Promise<Message | undefined> {
  const query = {
    limit: MESSAGES_A_PAGE,
    ...(conversationId !== undefined && { conversation_id: conversationId }),
  };
  let read = 0;
  for await (const { results } of client.messagePages(query, signal)) {
    const found = results.find(({ remote_id }) => remote_id === remoteId);
    if (found !== undefined) return found;
    read += 1;
    if (read === PAGES_READ) break;
  }
  return undefined;
}
