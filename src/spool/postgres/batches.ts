import { setImmediate as immediate } from 'node:timers/promises';
import { SpoolFull, SpoolUnavailable, StoreRefuses } from '../errors.ts';

const MOST_IN_A_BATCH = 500;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly size: number;
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
  /** Other statements that are about to take along what waits. */
  #takers = 0;

  /** @param run resolves with one result for each item, in their order */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  /** @param size as how many calls it counts: a batch takes a limited number of them */
  add(item: Item, size = 1): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject });
    });
    this.#start();
    return result;
  }

  /**
   * Takes the calls that wait along with another statement, which saves one of their own.
   * @param send resolves with the result of each item and with what the other statement is for
   * @throws whatever `send` throws without any items
   */
  async along<Other>(
    send: (items: readonly Item[]) => Promise<{ results: readonly Result[]; other: Other }>,
  ): Promise<Other> {
    this.#takers += 1;
    await immediate();
    this.#takers -= 1;
    const batch = this.#take();
    this.#start();
    if (batch.length === 0) return (await send([])).other;
    try {
      const { results, other } = await send(batch.map(({ item }) => item));
      answer(batch, results);
      return other;
    } catch (error) {
      if (!(error instanceof StoreRefuses)) {
        refuse(batch, error);
        throw error;
      }
      await this.#runOne(batch);
      return (await send([])).other;
    }
  }

  #take(): readonly Waiting<Item, Result>[] {
    let [count, size] = [0, 0];
    for (const each of this.#waiting) {
      size += each.size;
      if (count > 0 && size > MOST_IN_A_BATCH) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #start(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    // After all calls of this turn of the event loop.
    setImmediate(() => void this.#runAll());
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0 && this.#takers === 0) await this.#runOne(this.#take());
    this.#isRunning = false;
  }

  /** When the statement refuses a batch, only the call that is at fault fails. */
  async #runOne(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      answer(batch, await this.#run(batch.map(({ item }) => item)));
    } catch (error) {
      if (error instanceof StoreRefuses && batch.length > 1) {
        for (const one of batch) await this.#runOne([one]);
        return;
      }
      refuse(batch, error);
    }
  }
}

/** The row of each item of a batch, by the number that it was sent with. */
export function numbered<Row extends { readonly number: number }>(
  items: readonly unknown[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  return items.map((_, number) => byNumber.get(number));
}

function answer<Result>(
  batch: readonly Waiting<unknown, Result>[],
  results: readonly Result[],
): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    if (index < results.length) resolve(results[index] as Result);
    else reject(new SpoolUnavailable('the database answered fewer calls than it was sent'));
  }
}

function refuse(batch: readonly Waiting<unknown, never>[], error: unknown): void {
  const isKnown = error instanceof SpoolUnavailable || error instanceof SpoolFull;
  const failure = isKnown ? error : new SpoolUnavailable('the spool failed', { cause: error });
  for (const { reject } of batch) reject(failure);
}
