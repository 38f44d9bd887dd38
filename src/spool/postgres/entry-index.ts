import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../runtime/error-code.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { EntryIndex, EntrySearch, IndexOptions } from '../entry-index.ts';
import { SpoolUnavailable } from '../errors.ts';
import { cardBacklog, CardFiller } from './cards.ts';
import type { Database } from './connection.ts';
import { entrySearches } from './entry-search.ts';

/** A gateway that stops sooner, as in a test, does not fill cards by itself. */
const FOLLOW_AFTER_MS = 1000;
const LOOK_EVERY_MS = 2000;
/** By then most entries are delivered, and are indexed once, with the ids that the platform assigned. */
const MIN_AGE_MS = 1000;
/** How long it works at a stretch, and the pause after it, in which other work has the database. */
const WORK_MS = 100;
const PAUSE_MS = 50;
/** The pause after a failure. */
const AGAIN_AFTER_MS = 5000;
/** How long a search for a text fills cards before it answers: a command always, a gateway if it finds nothing. */
const COMMAND_WAITS_MS = 2000;
const GATEWAY_WAITS_MS = 500;
const BUSY_PAUSE_MS = 25;

/** The index of a store in PostgreSQL. All gateways share it, and whichever has time fills its cards. */
export class PostgresIndex implements EntryIndex {
  readonly #database: Database;
  readonly #searches: ReturnType<typeof entrySearches>;
  readonly #filler: CardFiller;
  readonly #isCommand: boolean;
  readonly #onFailure: (reason: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #following: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #closed = false;

  constructor(database: Database, { role, onFailure = () => undefined }: IndexOptions) {
    this.#database = database;
    this.#searches = entrySearches(database);
    this.#filler = new CardFiller(database);
    this.#isCommand = role === 'beside';
    this.#onFailure = onFailure;
    if (!this.#isCommand) this.#followAfter(FOLLOW_AFTER_MS);
  }

  /**
   * The cards are a second or two behind. A text that is not found may be that of a newer entry, so cards
   * are filled and the search is repeated.
   */
  async find(search: EntrySearch) {
    this.#assertOpen();
    const hasText = (search.text ?? '').trim() !== '';
    if (hasText && this.#isCommand) await this.#fillNow(COMMAND_WAITS_MS);
    const result = await this.#searches.find(search);
    if (!hasText || this.#isCommand || result.found.length > 0) return result;
    await this.#fillNow(GATEWAY_WAITS_MS);
    return this.#searches.find(search);
  }

  async count(filters: Omit<EntrySearch, 'before' | 'limit'>, most: number) {
    this.#assertOpen();
    if (this.#isCommand && filters.text !== undefined) await this.#fillNow(COMMAND_WAITS_MS);
    return this.#searches.count(filters, most);
  }

  async backlog() {
    this.#assertOpen();
    if (this.#isCommand) await this.#fillNow(COMMAND_WAITS_MS);
    return cardBacklog(this.#database);
  }

  async summaries(ids: readonly EntryId[]) {
    this.#assertOpen();
    return this.#searches.summaries(ids);
  }

  async neighbours(id: EntryId) {
    this.#assertOpen();
    return this.#searches.neighbours(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#following;
  }

  #assertOpen(): void {
    if (this.#closed) throw new SpoolUnavailable('the index is closed');
  }

  async #fillNow(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    for (;;) {
      const filled = await this.#filler.fill(until - performance.now());
      if (filled !== 'busy' || performance.now() >= until || this.#closed) return;
      await sleep(BUSY_PAUSE_MS);
    }
  }

  #followAfter(delayMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#following = this.#follow();
    }, delayMs).unref();
  }

  async #follow(): Promise<void> {
    try {
      const filled = await this.#filler.fill(WORK_MS, MIN_AGE_MS);
      this.#hasFailed = false;
      this.#followAfter(filled === 'more' ? PAUSE_MS : LOOK_EVERY_MS);
    } catch (error) {
      const { cause } = error instanceof Error ? error : {};
      const reason = codeOf(cause) || (error instanceof Error ? error.name : typeof error);
      if (!this.#hasFailed) this.#onFailure(reason);
      this.#hasFailed = true;
      this.#followAfter(AGAIN_AFTER_MS);
    }
  }
}
