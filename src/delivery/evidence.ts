import { createHash } from 'node:crypto';
import type { PlatformClient } from '../platform-api/client.ts';
import type { Message } from '../platform-api/resources.ts';
import type { Spool } from '../spool/spool.ts';
import type { ShopId } from '../domain/ids.ts';

const PAGES_READ = 4;
const MESSAGES_A_PAGE = 50;

/** Remembers once and for all. */
type Marks = Pick<Spool, 'mark' | 'setMark'>;

/** So often a form of answer has to be seen beside the message that it answers. */
const TIMES_SEEN = 5;
/** More than a platform and the proxies before it have; what comes after these stays unclear. */
const MAX_FORMS = 20;

/**
 * What one platform's answers to create message mean (API §4.7 rule 6: not shown). Learned once
 * per shop, platform URL and form of answer, and kept over restarts. One form at most comes to mean
 * that a message was taken: it was always found afterwards, and before any other form was.
 */
export class LearnedAnswers {
  readonly #prefix: string;
  readonly #known = new Map<string, number>();

  constructor(shopId: ShopId, platformUrl: string) {
    const url = createHash('sha256').update(platformUrl).digest('hex').slice(0, 16);
    this.#prefix = `answer/${shopId}/${url}`;
  }

  /** Whether it has ever answered with a message: then another answer is a proxy's. */
  async isWithMessages(marks: Marks): Promise<boolean> {
    return (await this.#get('message', marks)) !== undefined;
  }

  async learnMessages(marks: Marks): Promise<void> {
    if (!(await this.isWithMessages(marks))) await this.#set('message', 1, marks);
  }

  /** Whether this form has been seen to mean that the message was taken. */
  async isTaken(form: string, marks: Marks): Promise<boolean> {
    return ((await this.#get(form, marks)) ?? 0) >= TIMES_SEEN;
  }

  /** After an answer of this form the message was there. */
  async found(form: string, marks: Marks): Promise<void> {
    const times = (await this.#get(form, marks)) ?? 0;
    if (times < 0 || times >= TIMES_SEEN) return;
    const isLast = times + 1 === TIMES_SEEN;
    if (isLast && (await this.#get('taken', marks)) !== undefined) return;
    if (!(await this.#mayLearn(form, marks))) return;
    await this.#set(form, times + 1, marks);
    if (isLast) await this.#set('taken', 1, marks);
  }

  /** After an answer of this form the message was not there: it never means anything. */
  async notFound(form: string, marks: Marks): Promise<void> {
    if ((await this.#get(form, marks)) === -1) return;
    if (await this.#mayLearn(form, marks)) await this.#set(form, -1, marks);
  }

  /** Marks are kept for ever, and what a platform answers is its own choice. */
  async #mayLearn(form: string, marks: Marks): Promise<boolean> {
    if ((await this.#get(form, marks)) !== undefined) return true;
    const forms = (await this.#get('forms', marks)) ?? 0;
    if (forms >= MAX_FORMS) return false;
    await this.#set('forms', forms + 1, marks);
    return true;
  }

  async #get(what: string, marks: Marks): Promise<number | undefined> {
    const known = this.#known.get(what) ?? (await marks.mark(`${this.#prefix}/${what}`));
    // What has no mark is not remembered either: there is no end to it.
    if (known !== undefined) this.#known.set(what, known);
    return known;
  }

  async #set(what: string, value: number, marks: Marks): Promise<void> {
    this.#known.set(what, value);
    await marks.setMark(`${this.#prefix}/${what}`, value);
  }
}

/**
 * Looks for our message where the platform lists it: in its conversation when that is known, else
 * in the first pages of all (the list's order is not documented).
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
