import type { RenewedSummary } from '../renew-summaries.ts';
import type { TableNames } from '../tables.ts';

export type Param = string | number | null | readonly string[];

/** In SQL that both databases understand, with parameters `$1`, `$2` and so on. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Param[];
}

/**
 * An operation on tables that no message waits for, written once for both stores: it yields lists of
 * statements and gets the rows of each. SQLite runs the whole operation within its batch; PostgreSQL runs
 * each list as one transaction, in one round trip.
 */
export type Operation<Result> = Generator<
  readonly Statement[],
  Result,
  readonly (readonly unknown[])[]
>;

/** Runs an operation and resolves with its result. */
export type Run = <Result>(begin: () => Operation<Result>) => Promise<Result>;

/** Where the SQL of the stores differs. */
export interface Dialect {
  /** The time by the store's clock, in milliseconds since the epoch. */
  readonly now: string;
  readonly tables: TableNames;
  /** What has the columns of an `EntryRow` and `has_raw`. */
  readonly entryRows: string;
  /** The same with the columns of a summary and their `version`, which are null without one. */
  readonly summarizedRows: string;
  /** Saves the summary of an entry that is stored, and has the search index it again. */
  readonly saveSummary: (summary: RenewedSummary) => readonly Statement[];
  /** Has a row if an entry of a lane, by its hash, waits that is older than another one: of $1 than $2, in the shop $3. */
  readonly earlierInLane: string;
  /** Whether a text can be the id of an entry. */
  readonly isEntryId: (text: string) => boolean;
  /**
   * The first of a list: keeps other lists with this lock waiting until this one is committed. `loose`: what the
   * list changes need not outlive a crash of the server.
   */
  readonly lock: (name: string, commit: 'durable' | 'loose') => readonly Statement[];
  /** Behind a SELECT in a list: nobody else changes the rows until the list is committed. */
  readonly forUpdate: string;
  /** The values of a list, behind IN. */
  readonly listed: (list: string) => string;
  /** The keyed hash of an erased person's opt-out, of two values; null while nobody was erased. */
  readonly optOutHash: (shop: string, lane: string) => string;
}

/** The rows of one statement; a statement that changes rows has them by RETURNING. */
export function* rowsOf<Row>(text: string, ...values: Param[]): Operation<readonly Row[]> {
  const [rows] = yield [{ text, values }];
  // The columns that the statement names.
  return rows as readonly Row[];
}

export const statement = (text: string, ...values: Param[]): Statement => ({ text, values });
