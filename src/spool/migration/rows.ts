import { hash } from 'node:crypto';
import { uuidOf } from '../postgres/intake.ts';
import { jsonOf, storable } from '../postgres/rows.ts';
import type { BlobStore } from '../blobs.ts';
import type { BlobName } from '../../domain/ids.ts';
import { isBoolean, type Row, type Table, type Value } from './tables.ts';

/** How far a copy is: the rows of `table` up to this key, and those of all tables before it. */
export interface Progress {
  readonly table: string;
  readonly after: readonly (string | number)[];
}

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
  read(table: Table, after?: Progress['after']): AsyncIterable<readonly Row[]>;
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
  /** Stores rows together with the progress. */
  write(table: Table, rows: readonly Row[], progress: Progress): Promise<void>;
  /** Makes what follows from the rows. */
  complete(erasureKey: Uint8Array | undefined): Promise<void>;
}

export const ROWS_AT_ONCE = 2000;

/** The row as PostgreSQL has it. */
export function rowOf({ columns, bytes, derived }: Table, found: Row): Row {
  const all = derived === undefined ? found : { ...found, ...derived(found) };
  const names = derived === undefined ? columns : [...columns, ...Object.keys(derived(found))];
  return Object.fromEntries(names.map((name) => [name, valueOf(name, all[name] ?? null, bytes)]));
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
    this.#sum += BigInt(`0x${hash('sha256', text, 'hex').slice(0, HASH_DIGITS)}`);
  }

  get digest(): Digest {
    return { rows: this.#rows, hash: String(this.#sum) };
  }
}

/** 60 bits, of which any number can be added in PostgreSQL. */
const HASH_DIGITS = 15;

/** The same sum in SQL. */
export const sumOf = (text: string): string =>
  `coalesce(sum(('x' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), ${HASH_DIGITS}))::bit(60)::bigint), 0)::text`;

/** A row as the text whose hash is compared. */
export function comparedText({ columns, bytes }: Table, row: Row): string {
  const values = columns.map((name) => {
    const value = row[name] ?? null;
    return [name, name === bytes && value instanceof Uint8Array ? hash('sha256', value) : value];
  });
  return JSON.stringify(Object.fromEntries(values));
}

export const keyOf = ({ key }: Table, row: Row | undefined): Progress['after'] =>
  key.map((name) => {
    const value = row?.[name];
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new Error(`${name} is the key of a table`);
  });
