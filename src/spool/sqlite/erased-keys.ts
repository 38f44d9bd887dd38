import { dirname, join } from 'node:path';
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { Db } from './database.ts';
import { makeFileOnce } from '../../runtime/durable-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { FileUnusable, SpoolUnusable } from '../errors.ts';

/** The kind of value that is hashed. The same text has a different hash for each kind. */
export type ErasedKind = 'dedup' | 'remote' | 'opt-out' | 'person';

const FILE = 'erasure-key.json';
const KEY = /^\s*\{\s*"key":\s*"([\w-]{43})"\s*\}\s*$/;

/**
 * The key of the hashes that remain after a person is erased. It is in a file of its own, so that
 * the database alone does not allow trying out numbers and addresses.
 */
export class ErasureKey {
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
  }

  /** @throws {SpoolUnusable} the file is missing or damaged, so the hashes cannot be used */
  static read(dir: string): ErasureKey {
    const key = readErasureKey(dir);
    if (key !== undefined) return new ErasureKey(key);
    throw new SpoolUnusable(
      `${join(dir, FILE)} is missing: by it what erased people had sent before is recognised, and ` +
        'who of them has opted out of texts. Restore it from the backup that the database is from.',
    );
  }

  /** Creates the file if it is missing: mode 0600, fsynced before it gets its name. */
  static readOrMake(dir: string): ErasureKey {
    if (readErasureKey(dir) === undefined) writeErasureKey(dir, randomBytes(32));
    return ErasureKey.read(dir);
  }

  optOut(shop: string, lane: string): Uint8Array {
    return this.hash('opt-out', `${shop}\0${lane}`);
  }

  /** 128 bits of HMAC-SHA256. */
  hash(kind: ErasedKind, value: string | Uint8Array): Uint8Array {
    return createHmac('sha256', this.#key)
      .update(`${kind}\0`)
      .update(value)
      .digest()
      .subarray(0, 16);
  }
}

/** Only the first key is written: hashes of another one would be lost. */
export function writeErasureKey(dir: string, key: Uint8Array): void {
  const content = { key: Buffer.from(key).toString('base64url') };
  makeFileOnce(join(dir, FILE), `${JSON.stringify(content)}\n`);
}

/** @throws {SpoolUnusable} it is damaged or cannot be read */
export function readErasureKey(dir: string): Buffer | undefined {
  const file = join(dir, FILE);
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new FileUnusable(`${file} cannot be read`, file, 'read', cause);
  }
  const [, key] = KEY.exec(text) ?? [];
  if (key === undefined) {
    throw new SpoolUnusable(`${file} is damaged: restore it from a backup.`);
  }
  return Buffer.from(key, 'base64url');
}

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
    this.#sql = {
      version: db.prepare('PRAGMA data_version').pluck(),
      any: db.prepare(`SELECT 1 FROM erased_keys UNION ALL SELECT 1 FROM erased_opt_outs LIMIT 1`),
      keyed: db.prepare<[Uint8Array], { entry: EntryId }>(
        `SELECT entry FROM erased_keys WHERE hash = ?`,
      ),
    };
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

  /** Null: there is no hash of anything. */
  optOutHash(shop: string, lane: string): Uint8Array | null {
    return this.#isEmpty ? null : this.#hasher().optOut(shop, lane);
  }

  #hasher(): ErasureKey {
    return (this.#key ??= ErasureKey.read(this.#dir));
  }
}
