import { dirname } from 'node:path';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import { ErasureKey } from '../erasure-key.ts';
import type { Db } from './database.ts';

/**
 * The keyed hashes that remain of erased people: of their messages' keys, and of numbers that opted
 * out of text messages. While no one has been erased, lookups skip the tables.
 *
 * A command in another process adds rows. `refresh`, called once per transaction, detects this:
 * `data_version` changes with other connections' commits.
 */
export class ErasedKeys {
  readonly #dir: string;
  readonly #sql;
  #version: unknown;
  #isEmpty = true;
  #key: ErasureKey | undefined;

  /** @throws {SpoolUnusable} there are hashes, but their key is missing */
  constructor(db: Db) {
    this.#dir = dirname(db.name);
    this.#sql = prepare(db);
    this.refresh();
    if (!this.#isEmpty) this.#hasher();
  }

  refresh(): void {
    const version = this.#sql.version.get();
    if (version === this.#version) return;
    this.#version = version;
    this.#isEmpty = this.#sql.any.get() === undefined;
  }

  /** True while no one has been erased. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** The id of the erased entry of a message. */
  firstWith(dedupHash: Uint8Array): EntryId | undefined {
    if (this.#isEmpty) return undefined;
    return this.#sql.keyed.get(this.#hasher().hash('dedup', dedupHash))?.entry;
  }

  /** Whether an erased email of this shop had this `remote_id`. */
  hasRemoteId(shopId: ShopId, remoteId: string): boolean {
    if (this.#isEmpty) return false;
    const hash = this.#hasher().hash('remote', `${shopId}\0${remoteId}`);
    return this.#sql.keyed.get(hash) !== undefined;
  }

  isOptedOut(shopId: ShopId, lane: string): boolean {
    if (this.#isEmpty) return false;
    const hash = this.#hasher().hash('opt-out', `${shopId}\0${lane}`);
    return this.#sql.optedOut.get(hash) !== undefined;
  }

  #hasher(): ErasureKey {
    return (this.#key ??= ErasureKey.read(this.#dir));
  }
}

function prepare(db: Db) {
  return {
    version: db.prepare('PRAGMA data_version').pluck(),
    any: db.prepare(`SELECT 1 FROM erased_keys UNION ALL SELECT 1 FROM erased_opt_outs LIMIT 1`),
    keyed: db.prepare<[Uint8Array], { entry: EntryId }>(
      `SELECT entry FROM erased_keys WHERE hash = ?`,
    ),
    optedOut: db.prepare<[Uint8Array]>(`SELECT 1 FROM erased_opt_outs WHERE hash = ?`),
  };
}
