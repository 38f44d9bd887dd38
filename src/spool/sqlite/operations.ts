import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { EntryMeta } from '../entry.ts';
import { methodsOf } from '../methods.ts';
import type { AuditLine, NewAuditLine, OperatorStore } from '../operator-store.ts';
import { ApiTokenQueries, ApiTokenTable } from './api-tokens.ts';
import { ChatJournal } from './chat-journal.ts';
import { ConversationTable, OptOutTable } from './lane-tables.ts';
import { type Db, whenFree } from './database.ts';
import { EntryQueries } from './entry-queries.ts';
import { type BacklogLimits, EntryTable } from './entry-table.ts';
import { ErasedKeys } from './erased-keys.ts';
import { FreshEntries } from './fresh-entries.ts';
import { LaneHeads, WaitingEntries } from './lanes.ts';
import { NameTable } from './name-table.ts';
import { OperatorMoves } from './operator-moves.ts';
import { RefusalTable } from './refusals.ts';
import { RetentionTable } from './retention.ts';
import { SenderRateTable } from './sender-rate-table.ts';
import { VisitorIdentities, VisitorTable } from './visitors.ts';
import { codeOf } from '../../runtime/error-code.ts';
import type { OutdatedSummary, RenewedSummary } from '../renew-summaries.ts';
import { BEGINNING_BYTES, SUMMARY_VERSION } from '../stored-form.ts';

const BACKLOG: BacklogLimits = { mostFresh: 200_000, filedAtOnce: 2000 };

/**
 * All operations of the database's thread: the public methods of the tables, by their names. Most
 * are methods of the store's ports (`spool.ts`, `chat-store.ts`, `operator-store.ts`,
 * `opt-out-store.ts`, `api-token-store.ts`); only `open.ts`, `delivery-spool.ts` or another table calls the rest, such as `acceptFiled`. Each is
 * synchronous, runs in the transaction of its batch, and takes and returns only values that can be
 * cloned to another thread.
 */
export function createOperations(db: Db, clock: Clock, backlog = BACKLOG) {
  const [fresh, erased] = [new FreshEntries(db), new ErasedKeys(db)];
  const [lanes, names] = [new LaneHeads(db), new NameTable(db)];
  const context = { db, clock, fresh, erased, lanes, names };
  const conversations = new ConversationTable(context);
  const entries = new EntryTable(context, conversations, backlog);
  const waiting = new WaitingEntries(db, clock, lanes);
  const queries = {
    ...methodsOf(new EntryQueries(context)),
    ...methodsOf(new ApiTokenQueries(db)),
  };
  const operations = {
    ...methodsOf(entries),
    ...methodsOf(new OperatorMoves(context, entries)),
    ...methodsOf(waiting),
    ...methodsOf(new RefusalTable(db, clock, waiting)),
    ...queries,
    ...methodsOf(conversations),
    ...methodsOf(new VisitorTable(db)),
    ...methodsOf(new VisitorIdentities(db)),
    ...methodsOf(new ChatJournal(db, entries)),
    ...methodsOf(new OptOutTable(context)),
    ...methodsOf(names),
    ...methodsOf(new SenderRateTable(context)),
    ...methodsOf(new SummaryTable(db)),
    ...methodsOf(new ShopHealthTable(db)),
    ...methodsOf(new MarkTable(db)),
    ...methodsOf(new AuditTable(db, clock)),
    ...methodsOf(new ApiTokenTable(db, clock)),
    ...methodsOf(new RetentionTable(context)),
    ...methodsOf(new Probe(db)),
  };
  // `status` must answer while a gateway hangs in a transaction.
  const reading: readonly (keyof typeof operations)[] = ['shopHealth', 'auditPortion'];
  const readOnly = new Set<string>([...Object.keys(queries), ...reading]);
  return { operations, readOnly, fresh, erased };
}

export type Operations = ReturnType<typeof createOperations>['operations'];
export type OperationName = keyof Operations;

export interface Call {
  readonly id: number;
  readonly name: OperationName;
  readonly args: readonly unknown[];
}

/**
 * `full`: no space, try again when there is some. `bug`: this call failed and stored nothing. A
 * failure of the store itself is reported as `fatal` instead.
 */
export type CallResult =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind: 'full' | 'bug';
      readonly message: string;
    };

/** The audit log of operators' actions. Lines are only added; `retention.ts` sweeps old ones. */
class AuditTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = {
      add: db.prepare(
        `INSERT INTO audit (at, who, action, target, outcome, address) VALUES (?, ?, ?, ?, ?, ?)`,
      ),
      ends: db.prepare<[], { first: number | null; last: number | null }>(
        `SELECT (SELECT min(no) FROM audit) AS first, (SELECT max(no) FROM audit) AS last`,
      ),
      find: db.prepare<[Record<string, string | number | null>], AuditRow>(
        `SELECT no, at, who, action, target, outcome, address FROM audit
         WHERE no < @before AND no >= @downTo AND at >= @from AND at < @to
           AND (@actions IS NULL OR action IN (SELECT value FROM json_each(@actions)))
           AND (@text IS NULL
             OR instr(lower(concat_ws(char(10), who, target, outcome, address)), lower(@text)) > 0)
         ORDER BY no DESC LIMIT @limit`,
      ),
    };
  }

  audit({ who, action, target, outcome, address = '' }: NewAuditLine): void {
    this.#sql.add.run(this.#clock(), who, action, target, outcome, address || null);
  }

  /**
   * The lines among the next `AUDIT_LINES_PER_CALL`, the newest first.
   * @returns with `next`, the `before` of the call after it, unless there are no older lines
   */
  auditPortion({
    before,
    limit,
    text,
    actions,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
  }: Parameters<OperatorStore['auditLines']>[0]): {
    readonly lines: readonly AuditLine[];
    readonly next?: number;
  } {
    const { first, last } = this.#sql.ends.get() ?? {};
    const start = Math.min(before ?? Infinity, (last ?? 0) + 1);
    const downTo = start - AUDIT_LINES_PER_CALL;
    const chosen = actions === undefined ? null : JSON.stringify(actions);
    const lines = this.#sql.find
      .all({ before: start, downTo, limit, text: text ?? null, actions: chosen, from, to })
      .map(lineOf);
    return { lines, ...(downTo > (first ?? 0) && { next: downTo }) };
  }
}

/** Acknowledgements of other callers wait for one call. */
const AUDIT_LINES_PER_CALL = 2000;

type AuditRow = Omit<AuditLine, 'address'> & { readonly address: string | null };

const lineOf = ({ address, ...line }: AuditRow): AuditLine => ({
  ...line,
  ...(address !== null && { address }),
});

/** Named numbers that outlive the process. */
class MarkTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      get: db.prepare<[string], { at: number }>(`SELECT at FROM marks WHERE name = ?`),
      set: db.prepare(
        `INSERT INTO marks (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`,
      ),
      raise: db.prepare(
        `INSERT INTO marks (name, at) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET at = at + 1
           WHERE at >= 0 AND at < ?`,
      ),
    };
  }

  mark(name: string): number | undefined {
    return this.#sql.get.get(name)?.at;
  }

  setMark(name: string, value: number): void {
    this.#sql.set.run(name, value);
  }

  raiseMark(name: string, most: number): boolean {
    return this.#sql.raise.run(name, most).changes > 0;
  }
}

/**
 * The stored health of shops, for commands beside the gateway, and operators' requests for a probe,
 * from a command or the console.
 */
class ShopHealthTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      save: db.prepare(`INSERT OR REPLACE INTO shop_health (shop, health) VALUES (?, ?)`),
      of: db.prepare<[string], { health: string }>(`SELECT health FROM shop_health WHERE shop = ?`),
      request: db.prepare(`INSERT OR IGNORE INTO probe_requests (shop) VALUES (?)`),
      requests: db.prepare<[], { shop: ShopId }>(`SELECT shop FROM probe_requests ORDER BY shop`),
      take: db.prepare(`DELETE FROM probe_requests WHERE shop = ?`),
    };
  }

  saveShopHealth(shopId: ShopId, health: EntryMeta): void {
    this.#sql.save.run(shopId, JSON.stringify(health));
  }

  shopHealth(shopId: ShopId): EntryMeta | undefined {
    const row = this.#sql.of.get(shopId);
    // Written by `saveShopHealth`.
    return row === undefined ? undefined : (JSON.parse(row.health) as EntryMeta);
  }

  requestProbe(shopId: ShopId): void {
    this.#sql.request.run(shopId);
  }

  takeProbeRequests(shops: readonly ShopId[]): ShopId[] {
    const asked = this.#sql.requests.all().map(({ shop }) => shop);
    const taken = asked.filter((shop) => shops.includes(shop));
    for (const shop of taken) this.#sql.take.run(shop);
    return taken;
  }
}

class Probe {
  readonly #write;

  constructor(db: Db) {
    const version = Number(db.pragma('user_version', { simple: true }));
    this.#write = db.prepare(`PRAGMA user_version = ${version}`);
  }

  /** A write without effect, committed and fsynced like any other. */
  probe(): void {
    this.#write.run();
  }
}

/** Entries that one call reads: acknowledgements of other callers wait for the call. */
const SEQS_PER_CALL = 200;

/** Replaces summaries that are missing or that another version of the program made. */
class SummaryTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      newest: db.prepare<[], { seq: number | null }>(`SELECT max(seq) AS seq FROM entries`),
      outdated: db.prepare<[number, number], OutdatedSummary>(
        `SELECT seq, id, kind, channel, meta, blob,
           (SELECT substr(bytes, 1, ${BEGINNING_BYTES}) FROM raws WHERE raws.seq = entries.seq)
             AS beginning
         FROM entries LEFT JOIN summaries USING (seq)
         WHERE seq > ? AND seq <= ? AND version IS NOT ${SUMMARY_VERSION}`,
      ),
      save: db.prepare(
        `INSERT OR REPLACE INTO summaries (seq, version, "from", "to", subject, more)
         SELECT seq, ${SUMMARY_VERSION}, @from, @to, @subject, @more FROM entries
         WHERE seq = @seq AND id = @id`,
      ),
      insertChange: db.prepare(`INSERT INTO changes (seq) VALUES (?)`),
    };
  }

  /** Some outdated summaries after this seq, and how far it looked; undefined: to the end. */
  outdatedSummaries(after: number): { outdated: OutdatedSummary[]; upTo: number | undefined } {
    const upTo = after + SEQS_PER_CALL;
    const newest = this.#sql.newest.get()?.seq ?? 0;
    const outdated = this.#sql.outdated.all(after, upTo);
    return { outdated, upTo: upTo < newest ? upTo : undefined };
  }

  /** Skips entries that were deleted meanwhile, whose seq may belong to another entry. */
  saveSummaries(summaries: readonly RenewedSummary[]): void {
    for (const { seq, id, from, to, subject, more } of summaries) {
      const { changes } = this.#sql.save.run({ seq, id, from, to, subject, more });
      if (changes > 0) this.#sql.insertChange.run(seq);
    }
  }
}

/** The store has failed: it is uncertain what is on the disk. Never retried. */
export class StoreFailed extends Error {
  override name = 'StoreFailed';
}

export interface BatchStore {
  readonly db: Db;
  readonly operations: Operations;
  /** The names of those that never write. */
  readonly readOnly: ReadonlySet<string>;
  readonly fresh: FreshEntries;
  readonly erased: Pick<ErasedKeys, 'refresh'>;
}

/**
 * Runs calls as one transaction with one fsync. When one throws, the batch is rolled back and each
 * call is run again in a transaction of its own, so that only the faulty call fails.
 * @throws {StoreFailed} the commit or its fsync failed, or the file is damaged
 */
export function runBatch(store: BatchStore, calls: readonly Call[]): CallResult[] {
  const { db, operations, readOnly, fresh, erased } = store;
  try {
    fresh.begin();
    const work = db.transaction((): CallResult[] => {
      erased.refresh();
      return calls.map((call) => ({ id: call.id, ok: true, value: run(operations, call) }));
    });
    // A command that only reads must neither wait for the gateway's commits nor delay them.
    const isReading = calls.every(({ name }) => readOnly.has(name));
    return whenFree(db, () => (isReading ? work.deferred() : work.immediate()));
  } catch (error) {
    fresh.rollBack();
    assertRecoverable(error);
    const [only] = calls;
    if (calls.length === 1 && only !== undefined) return [failure(only, error)];
    return calls.flatMap((call) => runBatch(store, [call]));
  }
}

function run(operations: Operations, call: Call): unknown {
  // The arguments were typed by the one caller, `StoreClient.call`, under the same name.
  const operation = operations[call.name] as (...args: readonly unknown[]) => unknown;
  return operation(...call.args);
}

/** I/O errors, fsync included, and damage fail the store; any other error fails only the call. */
function assertRecoverable(error: unknown): void {
  if (/^SQLITE_(IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/.test(codeOf(error))) {
    throw new StoreFailed(codeOf(error), { cause: error });
  }
}

function failure(call: Call, error: unknown): CallResult {
  const message = error instanceof Error ? error.message : 'unknown';
  const kind = codeOf(error) === 'SQLITE_FULL' ? 'full' : 'bug';
  return { id: call.id, ok: false, kind, message: `${call.name}: ${message}` };
}
