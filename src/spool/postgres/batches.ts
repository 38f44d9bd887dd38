import { SpoolFull, SpoolUnavailable } from '../errors.ts';
import { StatementRefused } from './connection.ts';

const MOST_IN_A_BATCH = 500;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Collects the calls of one kind, so that all that arrive during one commit share the next. There is
 * no timer: a single call is sent at once. The calls of a batch are kept in their order.
 */
export class Batches<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  /** @param run resolves with one result for each item, in their order */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  add(item: Item): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
    });
    if (!this.#isRunning) {
      this.#isRunning = true;
      // After all calls of this turn of the event loop.
      setImmediate(() => void this.#runAll());
    }
    return result;
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#runOne(this.#waiting.splice(0, MOST_IN_A_BATCH));
    this.#isRunning = false;
  }

  /** When the statement refuses a batch, only the call that is at fault fails. */
  async #runOne(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        if (index < results.length) resolve(results[index] as Result);
        else reject(new SpoolUnavailable('the database answered fewer calls than it was sent'));
      }
    } catch (error) {
      if (error instanceof StatementRefused && batch.length > 1) {
        for (const one of batch) await this.#runOne([one]);
        return;
      }
      const isKnown = error instanceof SpoolUnavailable || error instanceof SpoolFull;
      const failure = isKnown ? error : new SpoolUnavailable('the spool failed', { cause: error });
      for (const { reject } of batch) reject(failure);
    }
  }
}
