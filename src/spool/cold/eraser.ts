import { setTimeout as delay } from 'node:timers/promises';
import type { ShopId } from '../../domain/ids.ts';
import type {
  Eraser,
  EraseRowsOptions,
  Note,
  Person,
  Rest,
  RestKind,
  StoredName,
  TracedEntry,
  TracedVisitor,
  Traces,
} from '../erasure.ts';
import type { LaneKey } from '../spool.ts';
import { rateHash } from '../hashes.ts';
import { methodsOf } from '../methods.ts';
import { TraceFinder } from './erasure-finder.ts';
import {
  type Dialect,
  type Operation,
  type Run,
  rowsOf,
  type Statement,
  statement,
} from './operation.ts';
import { ERASED_REASON, redacted } from './redacted.ts';

/** Rows per transaction, for which acknowledgements of a running gateway wait. Raw forms are up to 64 KiB each. */
const ROWS_AT_ONCE = 20;
const LOOK_EVERY_MS = 200;
/** A shop's health is written again and again; one of these writes meets no other. */
const ATTEMPTS = 5;

/** What an erasure needs of a store: entries are rows of different tables, and wait for different locks. */
export interface ErasureSite extends Pick<Eraser, 'hashOf' | 'sweepTemporary' | 'purge' | 'close'> {
  readonly run: Run;
  readonly dialect: Dialect;
  /** Before anything is erased: makes the key of the hashes that remain, and notes that there will be deleted bytes. */
  begin(): Promise<void>;
  /**
   * Erases entries with all that belongs to them, as one transaction that also records what has to be deleted
   * outside of it; keyed hashes of the dedup keys and of emails' remote ids remain.
   * @param inFlight `keep` skips entries that are being delivered; `take` erases them too: their attempt has lost
   * its lease, so its outcome changes nothing
   * @returns the entries that were skipped
   */
  eraseEntries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
  ): Promise<readonly TracedEntry[]>;
  /** Deletes those of these blobs that no row names any more; one mail may be for two shops. */
  deleteBlobs(names: readonly string[]): Promise<number>;
  /** Locks names as the acceptance of texts does. */
  lockNames(names: readonly StoredName[]): readonly Statement[];
  /** Tables with the reason of an entry. */
  readonly reasons: readonly string[];
  /** Tables with counts of senders. */
  readonly counts: readonly string[];
}

/** Opens what erases people from a store, beside its gateways or without one. */
export const eraserOf = (site: ErasureSite): Eraser => ({
  ...methodsOf(site),
  ...methodsOf(new TraceFinder(site.run, site.dialect)),
  ...methodsOf(new RowEraser(site)),
});

/** `Eraser` documents the methods. */
class RowEraser {
  readonly #site: ErasureSite;

  constructor(site: ErasureSite) {
    this.#site = site;
  }

  async eraseRows(
    { entries, visitors, conversations, optOuts, notes }: Traces,
    { person, shops, waitMs, signal }: EraseRowsOptions,
  ): Promise<readonly TracedEntry[]> {
    await this.#site.begin();
    const deadline = performance.now() + waitMs;
    let inFlight = await this.#eraseEntries(entries, 'keep', signal);
    while (inFlight.length > 0 && performance.now() < deadline) {
      await delay(LOOK_EVERY_MS);
      inFlight = await this.#eraseEntries(inFlight, 'keep', signal);
    }
    await this.#eraseEntries(inFlight, 'take', signal);
    for (const visitor of visitors) await this.#change(this.#visitor(visitor));
    const { conversations: table } = this.#site.dialect.tables;
    const sql = `DELETE FROM ${table} WHERE shop = $1 AND channel = $2 AND lane = $3`;
    await this.#changeEach(conversations, ({ shopId, channel, lane }) => [
      statement(sql, shopId, channel, lane),
    ]);
    await this.#changeEach(optOuts, (lane) => this.#optOut(lane));
    for (const note of notes) await this.#redact(note, person);
    await this.#redactHealth(person);
    const hashes = shops.flatMap((shop) =>
      person.countedAs.map((name) => rateHash(shop, 'person', name)),
    );
    await this.#changeEach(hashes, (hash) =>
      this.#site.counts.map((counts) => statement(`DELETE FROM ${counts} WHERE person = $1`, hash)),
    );
    return inFlight;
  }

  async #eraseEntries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
    signal: AbortSignal | undefined,
  ): Promise<TracedEntry[]> {
    const left: TracedEntry[] = [];
    for (const some of portions(entries)) {
      left.push(...(await this.#site.eraseEntries(some, inFlight)));
      signal?.throwIfAborted();
    }
    return left;
  }

  async eraseNames(names: readonly StoredName[]): Promise<void> {
    const { personNames } = this.#site.dialect.tables;
    const sql = `DELETE FROM ${personNames} WHERE shop = $1 AND scope = $2 AND name = $3`;
    for (const some of portions(names)) {
      await this.#change([
        ...this.#site.lockNames(some),
        ...some.map(({ shop, scope, name }) => statement(sql, shop, scope, name)),
      ]);
    }
  }

  async eraseBlobs(): Promise<number> {
    const { blob: names } = await this.rest();
    const deleted = names.length === 0 ? 0 : await this.#site.deleteBlobs(names);
    await this.forgetRest('blob', names);
    return deleted;
  }

  async rest(): Promise<Rest> {
    const rows = await this.#rows<{ kind: RestKind; name: string }>(
      'SELECT kind, name FROM erasure_rest ORDER BY name',
    );
    const rest: Record<RestKind, string[]> = { blob: [], media: [], message: [], visitor: [] };
    for (const { kind, name } of rows) rest[kind].push(name);
    return rest;
  }

  async forgetRest(kind: RestKind, names: readonly string[]): Promise<void> {
    const sql = 'DELETE FROM erasure_rest WHERE kind = $1 AND name = $2';
    await this.#changeEach(names, (name) => [statement(sql, kind, name)]);
  }

  /** A visitor with history and uploads. The lock ends what adds to them. */
  #visitor({ no }: TracedVisitor): readonly Statement[] {
    const { forUpdate, tables } = this.#site.dialect;
    const { visitors, uploads } = tables;
    const own = `SELECT shop, id FROM ${visitors} WHERE no = $1`;
    return [
      `${own} ${forUpdate}`,
      `INSERT INTO erasure_rest (kind, name)
       SELECT DISTINCT 'blob', blob FROM ${uploads} WHERE (shop, visitor) IN (${own})
       UNION SELECT 'visitor', id FROM ${visitors} WHERE no = $1 ON CONFLICT DO NOTHING`,
      `DELETE FROM ${uploads} WHERE (shop, visitor) IN (${own})`,
      'DELETE FROM journal WHERE visitor = $1',
      `DELETE FROM ${visitors} WHERE no = $1`,
    ].map((text) => statement(text, no));
  }

  /** An opt-out remains as a keyed hash; a number that opted in again leaves nothing. */
  #optOut({ shopId, lane }: LaneKey): readonly Statement[] {
    const { dialect } = this.#site;
    const { optOuts, erasedOptOuts } = dialect.tables;
    const own = `FROM ${optOuts} WHERE shop = $1 AND lane = $2`;
    const hash = dialect.optOutHash('shop', 'lane');
    return [
      `SELECT lane ${own} ${dialect.forUpdate}`,
      `INSERT INTO ${erasedOptOuts} (hash, at) SELECT ${hash}, at ${own} AND opted_out ON CONFLICT DO NOTHING`,
      `DELETE FROM ${erasedOptOuts} WHERE hash IN (SELECT ${hash} ${own} AND NOT opted_out)`,
      `DELETE ${own}`,
    ].map((text) => statement(text, shopId, lane));
  }

  /** Redacts the store's text about another person's entry: an answer that quotes the person. */
  async #redact({ seq, no }: Note, person: Person): Promise<void> {
    if (no === undefined) {
      await this.#changeEach(this.#site.reasons, (table) => [
        statement(
          `UPDATE ${table} SET reason = $1 WHERE seq = $2 AND reason IS NOT NULL`,
          ERASED_REASON,
          seq,
        ),
      ]);
      return;
    }
    const read = 'SELECT steps FROM timeline WHERE seq = $1 AND no = $2';
    const write = 'UPDATE timeline SET steps = $1 WHERE seq = $2 AND no = $3';
    const rows = await this.#rows<{ steps: string }>(read, seq, no);
    await this.#changeEach(rows, ({ steps }) => [
      statement(write, redacted(steps, person), seq, no),
    ]);
  }

  /** Redacts the same in the stored health of shops, unless a gateway has written it meanwhile. */
  async #redactHealth(person: Person): Promise<void> {
    const sql = 'UPDATE shop_health SET health = $1 WHERE shop = $2 AND health = $3';
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const rows = await this.#rows<{ shop: ShopId; health: string }>(
        'SELECT shop, health FROM shop_health',
      );
      const named = rows.filter(({ health }) => redacted(health, person) !== health);
      if (named.length === 0) return;
      await this.#changeEach(named, ({ shop, health }) => [
        statement(sql, redacted(health, person), shop, health),
      ]);
    }
  }

  #rows<Row>(text: string, ...values: Statement['values']): Promise<readonly Row[]> {
    return this.#site.run(() => rowsOf<Row>(text, ...values));
  }

  #change(list: readonly Statement[]): Promise<void> {
    return this.#site.run(function* change(): Operation<void> {
      yield list;
    });
  }

  /** In one transaction for each portion. */
  async #changeEach<Of>(
    all: readonly Of[],
    statementsOf: (one: Of) => readonly Statement[],
  ): Promise<void> {
    for (const some of portions(all)) await this.#change(some.flatMap(statementsOf));
  }
}

function* portions<Of>(all: readonly Of[]): Generator<readonly Of[]> {
  for (let at = 0; at < all.length; at += ROWS_AT_ONCE) yield all.slice(at, at + ROWS_AT_ONCE);
}
