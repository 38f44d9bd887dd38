import { setTimeout as delay } from 'node:timers/promises';
import type { BlobStore } from '../blobs.ts';
import type {
  Eraser,
  EraseRowsOptions,
  ErasedRows,
  FindOptions,
  Found,
  Purged,
  RestKind,
  StoredName,
  TracedEntry,
  Traces,
} from '../erasure.ts';
import type { Database } from './connection.ts';
import { ERASED_HASH } from './erased-keys.ts';
import { TraceFinder } from './erasure-finder.ts';
import { ErasureRows } from './erasure-rows.ts';

const ENTRIES_PER_CALL = 20;
const LOOK_EVERY_MS = 200;

/** All tables that an erasure deletes from or changes. */
const TOUCHED =
  'entry, raw, record, media, timeline, move, job, lane, outcome, remote, card, dirty, blob, blob_chunk, ' +
  'upload, visitor, journal, conversation, person_name, opt_out, sender_count, sender_rate, shop_health, erasure_rest';

/** Erases people from the database of all gateways. `Eraser` documents the methods. */
export class PostgresEraser implements Eraser {
  readonly #database: Database;
  readonly #blobs: BlobStore & { sweep(): Promise<number> };
  readonly #finder: TraceFinder;
  readonly #rows: ErasureRows;

  constructor(database: Database, blobs: BlobStore & { sweep(): Promise<number> }) {
    this.#database = database;
    this.#blobs = blobs;
    this.#finder = new TraceFinder(database, blobs);
    this.#rows = new ErasureRows(database);
  }

  count(): Promise<number> {
    return this.#finder.count();
  }

  names(): AsyncGenerator<StoredName> {
    return this.#finder.names();
  }

  async eraseNames(names: readonly StoredName[]): Promise<void> {
    if (names.length > 0) await this.#rows.names(names);
  }

  find(options: FindOptions): Promise<Found> {
    return this.#finder.find(options);
  }

  async hashOf(identity: string): Promise<string> {
    await this.#rows.makeKey();
    const [row] = await this.#database.query<{ hash: string }>(
      `SELECT ${ERASED_HASH.name}('person', $1) AS hash`,
      [Buffer.from(identity)],
    );
    if (row === undefined) throw new Error('the database has a key');
    return row.hash.replaceAll('-', '');
  }

  async eraseRows(
    { entries, visitors, conversations, optOuts, notes }: Traces,
    { person, shops, waitMs, signal }: EraseRowsOptions,
  ): Promise<ErasedRows> {
    const rows = this.#rows;
    await rows.makeKey();
    const deadline = performance.now() + waitMs;
    let left = await this.#eraseEntries(entries, 'keep', signal);
    while (left.length > 0 && performance.now() < deadline) {
      await delay(LOOK_EVERY_MS);
      left = await this.#eraseEntries(left, 'keep', signal);
    }
    await this.#eraseEntries(left, 'take', signal);
    for (const visitor of visitors) await rows.visitor(visitor);
    await rows.conversations(conversations);
    for (const lane of optOuts) await rows.optOut(lane);
    for (const note of notes) await rows.note(note, person);
    await rows.shopHealth(person);
    return { senderRates: await rows.senderRates(person, shops), inFlight: left };
  }

  async #eraseEntries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
    signal: AbortSignal | undefined,
  ): Promise<TracedEntry[]> {
    const left: TracedEntry[] = [];
    for (let at = 0; at < entries.length; at += ENTRIES_PER_CALL) {
      left.push(...(await this.#rows.entries(entries.slice(at, at + ENTRIES_PER_CALL), inFlight)));
      signal?.throwIfAborted();
    }
    return left;
  }

  async eraseBlobs(): Promise<number> {
    const names = await this.#rows.rest('blob');
    let deleted = 0;
    // One at a time: a blob may have thousands of chunks.
    for (const name of names) deleted += await this.#rows.blobs([name]);
    await this.#rows.forgetRest('blob', names);
    return deleted;
  }

  rest(kind: RestKind): Promise<readonly string[]> {
    return this.#rows.rest(kind);
  }

  forgetRest(kind: RestKind, names: readonly string[]): Promise<void> {
    return this.#rows.forgetRest(kind, names);
  }

  /** Blobs that were being written a day ago and that nothing names. */
  async sweepTemporary(): Promise<void> {
    await this.#blobs.sweep();
  }

  /**
   * Frees the space of deleted rows (VACUUM). The server keeps their bytes until it uses the space
   * again, and its log, its standbys and its backups keep them for as long as they are configured to.
   */
  async purge(): Promise<Readonly<Record<string, Purged>>> {
    const client = await this.#database.connectAlone({});
    // Tables of another owner are skipped with a warning.
    const warnings: unknown[] = [];
    client.on('notice', (notice) => {
      if (notice.severity === 'WARNING') warnings.push(notice);
    });
    try {
      await client.query(`VACUUM ${TOUCHED}`);
    } finally {
      await client.end();
    }
    return { database: warnings.length > 0 ? 'not_vacuumed' : 'vacuumed' };
  }

  /** The connections are the store's. */
  close(): void {
    return undefined;
  }
}
