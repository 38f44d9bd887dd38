import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFileOnce } from '../runtime/durable-files.ts';
import { troubleInWords } from '../runtime/set-up-trouble.ts';
import { systemTrouble } from '../runtime/system-trouble.ts';
import { SpoolUnusable } from './errors.ts';

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
    const key = readKey(dir);
    if (key !== undefined) return new ErasureKey(key);
    throw new SpoolUnusable(
      `${join(dir, FILE)} is missing: by it what erased people had sent before is recognised, and ` +
        'who of them has opted out of texts. Restore it from the backup that the database is from.',
    );
  }

  /** Creates the file if it is missing: mode 0600, fsynced before it gets its name. */
  static readOrMake(dir: string): ErasureKey {
    const key = readKey(dir);
    if (key !== undefined) return new ErasureKey(key);
    const made = { key: randomBytes(32).toString('base64url') };
    makeFileOnce(join(dir, FILE), `${JSON.stringify(made)}\n`);
    return ErasureKey.read(dir);
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

function readKey(dir: string): Buffer | undefined {
  let text;
  try {
    text = readFileSync(join(dir, FILE), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    const trouble = systemTrouble(error, { dataDir: dir, to: 'read' });
    const why =
      trouble === undefined ? `${join(dir, FILE)} cannot be read` : troubleInWords(trouble);
    throw new SpoolUnusable(why, { cause: error });
  }
  const [, key] = KEY.exec(text) ?? [];
  if (key === undefined) {
    throw new SpoolUnusable(`${join(dir, FILE)} is damaged: restore it from a backup.`);
  }
  return Buffer.from(key, 'base64url');
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
