import { hash } from 'node:crypto';
import type { BlobStore } from '../blobs.ts';
import type { NamedBlob } from '../fleet.ts';
import type { Move } from '../move.ts';
import type { Row, Table, Value } from './tables.ts';

/** How far a copy is. */
export interface Progress {
  /** How many rows the old place has, by table: to count them takes as long as to copy some. */
  readonly rows: Readonly<Record<string, number>>;
  /** All of them are copied but the missing: to look for each again takes seconds. */
  readonly blobs?: CopiedBlobs;
  /** Copied are the rows of this table up to a key, and those of all tables before it. */
  readonly table?: string;
  readonly after?: Key;
}

export interface CopiedBlobs {
  readonly count: number;
  /** Blobs that rows name and that the old place no longer has. */
  readonly missing: readonly string[];
}

/** The key of a row. */
export type Key = readonly (string | number)[];

/** SQLite answers at once. */
type Soon<T> = T | Promise<T>;

/** One end of a move. */
export interface Place {
  /** In messages; without a password. */
  readonly name: string;
  /** How it becomes a usual store again, for messages. */
  readonly undo: string;
  move(): Soon<Move | undefined>;
  /** Resolves once the mark, and all that was written before, is on the disk. Undefined: it is a usual store. */
  setMove(move: Move | undefined): Promise<void>;
  /** @throws {SpoolUnusable} a gateway uses it. A folder is locked once it is open. */
  assertUnused?(): Promise<void>;
  /** @throws {SpoolUnusable} it has data of a store, or a gateway uses it */
  assertEmpty(): Soon<void>;
  /** @throws {SpoolUnusable} a gateway or a command uses it */
  open(): Soon<Contents>;
}

/** What is in a place, while nothing else uses it. */
export interface Contents {
  readonly blobs: BlobStore;
  count(table: Table): Soon<number>;
  /** Rows in the order of their key, in portions. */
  read(table: Table, after?: Key): AsyncIterable<readonly Row[]>;
  /** The same for the same rows, whatever their order. */
  digest(table: Table): Promise<string>;
  /** The blobs that rows name. */
  namedBlobs(): Soon<readonly NamedBlob[]>;
  /** The size of each blob that is here, or the hash of its bytes. */
  storedBlobs(of: 'sizes' | 'hashes'): Promise<ReadonlyMap<string, number | string>>;
  erasureKey(): Soon<Uint8Array | undefined>;
  /** Removes what a copy that was killed has not finished. Undefined: there was none. */
  resume(): Soon<Progress | undefined>;
  /** Stores rows together with the progress. */
  write(progress: Progress, table?: Table, rows?: readonly Row[]): Soon<void>;
  /** Makes what follows from the rows. */
  complete(erasureKey: Uint8Array | undefined): Soon<void>;
  /** Removes the progress, unless it is in the mark of the move. */
  finish?(): void;
  close(): Soon<void>;
}

/** Hexadecimal digits of a row's hash: 60 bits, of which any number can be added in PostgreSQL. */
export const HASH_DIGITS = 15;

/** The hash of a row, computed from the text that `row_to_json` makes of it in PostgreSQL. */
export function hashOf({ columns }: Table, row: Row): bigint {
  const compared: Record<string, Value> = {};
  for (const name of columns) {
    const value = row[name] ?? null;
    compared[name] = value instanceof Uint8Array ? hash('sha256', value) : value;
  }
  const text = JSON.stringify(compared);
  return hash('sha256', text, 'buffer').readBigUInt64BE() >> BigInt(64 - 4 * HASH_DIGITS);
}

export const keyOf = ({ key }: Table, row: Row | undefined): Key =>
  key.map((name) => {
    const value = row?.[name];
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new Error(`${name} is the key of a table`);
  });
