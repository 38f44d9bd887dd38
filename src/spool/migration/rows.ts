import { hash } from 'node:crypto';
import { uuidOf } from '../hashes.ts';
import { jsonOf, storable } from '../postgres/rows.ts';
import type { BlobStore } from '../blobs.ts';
import type { BlobName } from '../../domain/ids.ts';
import { isBoolean, type Row, type Table, type Value } from './tables.ts';

/** How far a copy is. */
export interface Progress {
  /** How many rows the old place has, by table: to count them takes as long as to copy some. */
  readonly rows?: Readonly<Record<string, number>>;
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

export interface CopiedBlobs {
  readonly count: number;
  /** Blobs that rows name and that the old place no longer has. */
  readonly missing: readonly string[];
}

/** The key of a row. */
export type Key = readonly (string | number)[];

/** What a table contains, independent of the order of its rows. */
export interface Digest {
  readonly rows: number;
  readonly hash: string;
}

export interface NamedBlob {
  readonly name: BlobName;
  readonly size: number;
}

/** One of the two places of a move. */
export interface Place {
  /** In messages; without a password. */
  readonly name: string;
  readonly blobs: BlobStore;
  count(table: Table): Promise<number>;
  /** Rows in the order of their key, in portions. */
  read(table: Table, after?: Key): AsyncIterable<readonly Row[]>;
  digest(table: Table): Promise<Digest>;
  /** The blobs that rows name. */
  namedBlobs(): Promise<readonly NamedBlob[]>;
  /** The blobs that are here, with their bytes or, in S3, their sizes. */
  storedBlobs(): Promise<readonly NamedBlob[]>;
  blobDigest(of: 'bytes' | 'sizes'): Promise<Digest>;
  erasureKey(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** The new place. */
export interface Target extends Place {
  progress(): Promise<Progress | undefined>;
  remember(progress: Progress): Promise<void>;
  /** Stores rows together with the progress. */
  write(table: Table, rows: readonly Row[], progress: Progress): Promise<void>;
  /** Makes what follows from the rows. */
  complete(erasureKey: Uint8Array | undefined): Promise<void>;
}

export const ROWS_AT_ONCE = 2000;

/** The row as PostgreSQL has it. */
export function rowOf({ columns, bytes, derived }: Table, found: Row): Row {
  const row: Record<string, Value> = {};
  for (const name of columns) row[name] = valueOf(name, found[name] ?? null, bytes);
  if (derived === undefined) return row;
  for (const [name, value] of Object.entries(derived(found))) {
    row[name] = valueOf(name, value, bytes);
  }
  return row;
}

function valueOf(column: string, value: Value, bytes: string | undefined): Value {
  // An index over jsonb refuses the escapes of what PostgreSQL cannot store.
  if (column === 'reason' && value !== null) return jsonOf(JSON.parse(String(value)));
  if (typeof value === 'string') return storable(value);
  if (isBoolean(column)) return value === 1;
  return value instanceof Uint8Array && column !== bytes ? uuidOf(value) : value;
}

/** Sums the hashes of texts, each of which is a row as JSON in PostgreSQL's form. */
export class Sum {
  #rows = 0;
  #sum = 0n;

  add(text: string): void {
    this.#rows += 1;
    this.#sum += hash('sha256', text, 'buffer').readBigUInt64BE() >> UNUSED_BITS;
  }

  get digest(): Digest {
    return { rows: this.#rows, hash: String(this.#sum) };
  }
}

/** 60 bits, of which any number can be added in PostgreSQL. */
const HASH_DIGITS = 15;
const UNUSED_BITS = 4n;

/** The same sum in SQL. */
export const sumOf = (text: string): string =>
  `coalesce(sum(('x' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), ${HASH_DIGITS}))::bit(60)::bigint), 0)::text`;

/** A row as the text whose hash is compared. */
export function comparedText({ columns, bytes }: Table, row: Row): string {
  const compared: Record<string, Value> = {};
  for (const name of columns) {
    const value = row[name] ?? null;
    compared[name] = name === bytes && value instanceof Uint8Array ? hash('sha256', value) : value;
  }
  return JSON.stringify(compared);
}

export const keyOf = ({ key }: Table, row: Row | undefined): Key =>
  key.map((name) => {
    const value = row?.[name];
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new Error(`${name} is the key of a table`);
  });
