import type {
  MessagePage,
  ReplySource,
} from '../../../../src/channels/chat/replies/message-reader.ts';
import { PageTooLarge } from '../../../../src/channels/chat/replies/message-reader.ts';
import type { Message } from '../../../../src/platform-api/resources.ts';

export type Order = 'newest first' | 'oldest first' | 'by id';

/** A platform that lists messages in an order of its own, in small pages, and fails at will. */
export class ListedMessages implements ReplySource {
  readonly messages: Message[] = [];
  readonly requests: {
    ids: readonly string[];
    cursor: string | undefined;
    at: number;
    limit?: number;
  }[] = [];
  order: Order = 'newest first';
  pageSize = 3;
  /** Every so many requests one fails; 0 for none. */
  failEvery = 0;
  /** Requests that fail, whenever they are made. */
  fails: (ids: readonly string[], start: number) => boolean = () => false;
  /** A page with more text than that is too large. */
  mostChars = Infinity;
  /** Answers wait for it. */
  gate: Promise<void> = Promise.resolve();
  #now = Date.UTC(2026, 0, 1);

  add(message: Message): Message {
    this.#now += 1_000;
    const dated = {
      ...message,
      created_at: message.created_at ?? new Date(this.#now).toISOString(),
    };
    this.messages.push(dated);
    return dated;
  }

  async listMessages(
    _shop: string,
    ids: readonly string[],
    cursor: string | undefined,
    _signal: AbortSignal,
    limit = Infinity,
  ): Promise<MessagePage> {
    const size = Math.min(limit, this.pageSize);
    this.requests.push({ ids, cursor, at: performance.now(), ...(limit < Infinity && { limit }) });
    await this.gate;
    if (this.failEvery > 0 && this.requests.length % this.failEvery === 0) {
      throw new Error('500');
    }
    const start = Number(cursor ?? 0);
    if (this.fails(ids, start)) throw new Error('500');
    const listed = this.messages.filter((message) => ids.includes(message.conversation_id ?? ''));
    if (this.order === 'newest first') listed.reverse();
    if (this.order === 'by id') listed.sort((one, other) => (one.id < other.id ? -1 : 1));
    // Each page repeats the last message of the one before, as pages do when rows are added.
    const first = limit === 1 ? start : Math.max(0, start - 1);
    const results = listed.slice(first, start + size);
    const chars = results.reduce((sum, { content = '' }) => sum + content.length, 0);
    if (chars > this.mostChars) throw new PageTooLarge(`${chars} characters`);
    const next = start + size < listed.length ? String(start + size) : null;
    return { results, next };
  }
}
