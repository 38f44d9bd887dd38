import type { BlobName, ShopId } from '../../domain/ids.ts';
import type {
  Note,
  Person,
  RestKind,
  StoredName,
  TracedEntry,
  TracedLane,
  TracedVisitor,
} from '../erasure.ts';
import { blackenedHealth, blackenedSteps, ERASED_REASON } from '../erasure-search.ts';
import type { ErasureKey } from './erased-keys.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';
import { rateHash } from '../hashes.ts';
import { LaneHeads } from './lanes.ts';

/**
 * Deletes what `TraceFinder` found. Each call is one transaction, short enough for a gateway whose
 * acknowledgements wait for it, and can be repeated after a kill. What has to be deleted outside
 * the database is recorded in the transaction that deletes the rows.
 */
export class ErasureRows {
  readonly #db: Db;
  readonly #makeKey: () => ErasureKey;
  readonly #sql;
  readonly #lanes;

  /** @param key returns the key, created when the first hash is stored */
  constructor(db: Db, key: () => ErasureKey) {
    this.#db = db;
    this.#makeKey = key;
    this.#sql = prepare(db);
    this.#lanes = new LaneHeads(db);
  }

  /**
   * Erases these entries with all that belongs to them; keyed hashes of their dedup key and of an
   * email's remote id remain.
   * @param inFlight what to do with an entry that is being delivered: `keep` skips it, `take`
   * erases it too. Its attempt then has lost the lease, so its outcome changes nothing
   * @returns the entries that were skipped
   */
  entries(entries: readonly TracedEntry[], inFlight: 'keep' | 'take', now: number): TracedEntry[] {
    return this.#transact(() =>
      entries.filter(({ seq, id }) => {
        const row = this.#sql.entry.get(seq, id);
        if (row === undefined) return false;
        const isInFlight = row.state === 'delivering' && (row.lease_until ?? 0) >= now;
        if (isInFlight && inFlight === 'keep') return true;
        this.#entry(row);
        return false;
      }),
    );
  }

  #entry(row: EntryRow): void {
    const { seq, id, shop, channel, remote_id: remoteId } = row;
    this.#sql.rememberKey.run(this.#key.hash('dedup', row.dedup_hash), id);
    if (channel === 'email') {
      this.#sql.rememberKey.run(this.#key.hash('remote', `${shop}\0${remoteId}`), id);
    }
    for (const { media_id: name } of this.#sql.media.all(seq)) this.#leave('media', name);
    for (const { blob } of this.#sql.uploadsOf.all(id)) this.#leave('blob', blob);
    if (row.blob !== null) this.#leave('blob', row.blob);
    if (row.platform_message_id !== null) this.#leave('message', row.platform_message_id);
    for (const part of this.#sql.parts) part.run(seq);
    this.#sql.deleteUploadsOf.run(id);
    this.#sql.deleteEntry.run(seq);
    // So that readers of `changes` remove it too.
    this.#sql.insertChange.run(seq);
    this.#lanes.refresh(row);
  }

  /** Erases visitors with their histories and uploads. */
  visitors(visitors: readonly TracedVisitor[]): void {
    for (const { no, id, shopId } of visitors) {
      this.#transact(() => {
        for (const { blob } of this.#sql.uploadsBy.all(shopId, id)) this.#leave('blob', blob);
        this.#leave('visitor', id);
        this.#sql.deleteUploadsBy.run(shopId, id);
        this.#sql.deleteLines.run(no);
        this.#sql.deleteVisitor.run(no);
      });
    }
  }

  conversations(lanes: readonly TracedLane[]): void {
    this.#transact(() => {
      for (const { shopId, channel, lane } of lanes) this.#sql.forget.run(shopId, channel, lane);
    });
  }

  names(names: readonly StoredName[]): void {
    this.#transact(() => {
      for (const { shop, scope, name } of names) this.#sql.deleteName.run(shop, scope, name);
    });
  }

  /** An opt-out remains as a keyed hash; a number that opted in again leaves nothing. */
  optOuts(lanes: readonly TracedLane[]): void {
    this.#transact(() => {
      for (const { shopId, lane } of lanes) {
        const row = this.#sql.optOut.get(shopId, lane);
        if (row === undefined) continue;
        const hash = this.#key.hash('opt-out', `${shopId}\0${lane}`);
        if (row.opted_out === 1) this.#sql.rememberOptOut.run(hash, row.at);
        else this.#sql.forgetOptOut.run(hash);
        this.#sql.deleteOptOut.run(shopId, lane);
      }
    });
  }

  /** Deletes the person's rate counts. */
  senderRates(person: Person, shops: readonly ShopId[]): number {
    return this.#transact(() => {
      let rows = 0;
      for (const shop of shops) {
        for (const name of person.countedAs) {
          rows += this.#sql.deleteRates.run(rateHash(shop, 'person', name)).changes;
        }
      }
      return rows;
    });
  }

  /** Redacts the store's texts about other people's entries: answers that quote the person. */
  notes(notes: readonly Note[], person: Person): void {
    this.#transact(() => {
      for (const { seq, no } of notes) {
        if (no === undefined) {
          this.#sql.blackenReason.run(ERASED_REASON, seq);
          this.#sql.blackenMove.run(ERASED_REASON, seq);
          continue;
        }
        const row = this.#sql.steps.get(seq, no);
        if (row === undefined) continue;
        this.#sql.setSteps.run(blackenedSteps(row.steps, person), seq, no);
      }
    });
  }

  /** Redacts the same in the stored shop health, which is kept for commands beside the gateway. */
  shopHealth(person: Person): void {
    this.#transact(() => {
      for (const { shop, health } of this.#sql.health.all()) {
        const clean = blackenedHealth(health, person);
        if (clean !== health) this.#sql.setHealth.run(clean, shop);
      }
    });
  }

  /** What has still to be deleted outside the database, from this run or one that was killed. */
  rest(kind: RestKind): string[] {
    return this.#sql.rest.all(kind).map(({ name }) => name);
  }

  /** Whether another entry's row references this file: one mail may be for two shops. */
  isNamed(blob: BlobName): boolean {
    return this.#sql.named.get(blob, blob) !== undefined;
  }

  /** Removes the records of what has been deleted. */
  forgetRest(kind: RestKind, names: readonly string[]): void {
    this.#transact(() => {
      for (const name of names) this.#sql.forgetRest.run(kind, name);
    });
  }

  get #key(): ErasureKey {
    return (this.#madeKey ??= this.#makeKey());
  }
  #madeKey: ErasureKey | undefined;

  #leave(kind: RestKind, name: string): void {
    this.#sql.leaveRest.run(kind, name);
  }

  #transact<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }
}

function prepare(db: Db) {
  return {
    // With the id, too: SQLite reuses the row number of a deleted last row.
    entry: db.prepare<
      [number, string],
      EntryRow & { lane_hash: number; lease_until: number | null }
    >(`SELECT * FROM entries WHERE seq = ? AND id = ?`),
    rememberKey: db.prepare(`INSERT OR IGNORE INTO erased_keys (hash, entry) VALUES (?, ?)`),
    media: db.prepare<[number], { media_id: string }>(`SELECT media_id FROM media WHERE seq = ?`),
    uploadsOf: db.prepare<[string], { blob: string }>(`SELECT blob FROM uploads WHERE entry = ?`),
    parts: ['raws', 'media', 'timeline', 'records', 'moves', 'summaries'].map((table) =>
      db.prepare<[number]>(`DELETE FROM ${table} WHERE seq = ?`),
    ),
    deleteUploadsOf: db.prepare(`DELETE FROM uploads WHERE entry = ?`),
    deleteEntry: db.prepare(`DELETE FROM entries WHERE seq = ?`),
    insertChange: db.prepare(`INSERT INTO changes (seq) VALUES (?)`),
    uploadsBy: db.prepare<[string, string], { blob: string }>(
      `SELECT blob FROM uploads WHERE shop = ? AND visitor = ?`,
    ),
    deleteUploadsBy: db.prepare(`DELETE FROM uploads WHERE shop = ? AND visitor = ?`),
    deleteLines: db.prepare(`DELETE FROM journal WHERE visitor = ?`),
    deleteVisitor: db.prepare(`DELETE FROM visitors WHERE no = ?`),
    forget: db.prepare(`DELETE FROM conversations WHERE shop = ? AND channel = ? AND lane = ?`),
    optOut: db.prepare<[string, string], { opted_out: number; at: number }>(
      `SELECT opted_out, at FROM opt_outs WHERE shop = ? AND lane = ?`,
    ),
    rememberOptOut: db.prepare(`INSERT OR IGNORE INTO erased_opt_outs (hash, at) VALUES (?, ?)`),
    forgetOptOut: db.prepare(`DELETE FROM erased_opt_outs WHERE hash = ?`),
    deleteOptOut: db.prepare(`DELETE FROM opt_outs WHERE shop = ? AND lane = ?`),
    deleteName: db.prepare(`DELETE FROM person_names WHERE shop = ? AND scope = ? AND name = ?`),
    deleteRates: db.prepare(`DELETE FROM sender_counts WHERE person = ?`),
    blackenReason: db.prepare(`UPDATE entries SET reason = ? WHERE seq = ? AND reason IS NOT NULL`),
    blackenMove: db.prepare(`UPDATE moves SET reason = ? WHERE seq = ? AND reason IS NOT NULL`),
    steps: db.prepare<[number, number], { steps: string }>(
      `SELECT steps FROM timeline WHERE seq = ? AND no = ?`,
    ),
    setSteps: db.prepare(`UPDATE timeline SET steps = ? WHERE seq = ? AND no = ?`),
    health: db.prepare<[], { shop: string; health: string }>(
      `SELECT shop, health FROM shop_health`,
    ),
    setHealth: db.prepare(`UPDATE shop_health SET health = ? WHERE shop = ?`),
    leaveRest: db.prepare(`INSERT OR IGNORE INTO erasure_rest (kind, name) VALUES (?, ?)`),
    rest: db.prepare<[string], { name: string }>(
      `SELECT name FROM erasure_rest WHERE kind = ? ORDER BY name`,
    ),
    named: db.prepare<[string, string]>(
      `SELECT 1 FROM entries WHERE blob = ? UNION ALL SELECT 1 FROM uploads WHERE blob = ? LIMIT 1`,
    ),
    forgetRest: db.prepare(`DELETE FROM erasure_rest WHERE kind = ? AND name = ?`),
  };
}
