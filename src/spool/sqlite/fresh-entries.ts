import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';

type FreshRow = Pick<EntryRow, 'id' | 'shop' | 'channel' | 'dedup_hash' | 'remote_id'>;

/**
 * In-memory lookups for entries that are not filed yet (`entry-table.ts`): their dedup hashes and
 * the remote ids of emails, which indexes provide for all others. Changes are undone when their
 * transaction rolls back.
 */
export class FreshEntries {
  readonly #sql;
  readonly #byDedupHash = new Map<string, EntryId>();
  readonly #remoteIds = new Set<string>();
  /** Undo functions for the running transaction, applied latest first. */
  #undo: (() => void)[] = [];

  constructor(db: Db) {
    this.#sql = db.prepare<[], FreshRow>(
      `SELECT id, shop, channel, dedup_hash, remote_id FROM entries WHERE filed = 0`,
    );
    this.read();
  }

  /** Reads them from the database, on start those that the last process left. */
  read(): void {
    this.#byDedupHash.clear();
    this.#remoteIds.clear();
    for (const row of this.#sql.iterate()) this.#put(row);
  }

  get count(): number {
    return this.#byDedupHash.size;
  }

  idOf(dedupHash: Uint8Array): EntryId | undefined {
    return this.#byDedupHash.get(latin1(dedupHash));
  }

  hasRemoteId(shopId: ShopId, remoteId: string): boolean {
    return this.#remoteIds.has(`${shopId} ${remoteId}`);
  }

  add(row: FreshRow): void {
    this.#put(row);
    this.#undo.push(() => this.#drop(row));
  }

  remove(row: FreshRow): void {
    this.#drop(row);
    this.#undo.push(() => this.#put(row));
  }

  begin(): void {
    this.#undo = [];
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  #put({ id, shop, channel, dedup_hash, remote_id }: FreshRow): void {
    this.#byDedupHash.set(latin1(dedup_hash), id);
    if (channel === 'email') this.#remoteIds.add(`${shop} ${remote_id}`);
  }

  #drop({ shop, channel, dedup_hash, remote_id }: FreshRow): void {
    this.#byDedupHash.delete(latin1(dedup_hash));
    if (channel === 'email') this.#remoteIds.delete(`${shop} ${remote_id}`);
  }
}

function latin1(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
}
