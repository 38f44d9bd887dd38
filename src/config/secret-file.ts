import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { makeFileOnce, makeFolder } from '../runtime/durable-files.ts';

/** A file of generated keys is there and cannot be used. It is never replaced by itself. */
export class UnusableKeys extends Error {
  override name = 'UnusableKeys';
}

/** Reads a file of generated keys; undefined when there is none. */
export async function readSecretFile<T>(
  file: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new UnusableKeys(`${file} cannot be read`, { cause: error });
  }
  try {
    // A backup that was unpacked may have left it open to others.
    const { mode } = await handle.stat();
    if ((mode & 0o077) !== 0) await handle.chmod(0o600);
    return schema.parse(JSON.parse(await readFile(handle, 'utf8')));
  } catch (error) {
    throw new UnusableKeys(
      `${file} is damaged. Restore it from a backup, or move it away to have new keys made.`,
      { cause: error },
    );
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file of keys, or makes it: mode 0600, complete and durable before it appears under its
 * name. Of two processes that make it at once, the first wins and the other reads its file.
 */
export async function readOrMakeSecretFile<T>(
  file: string,
  schema: z.ZodType<T>,
  make: () => T,
): Promise<T> {
  const existing = await readSecretFile(file, schema);
  if (existing !== undefined) return existing;
  const made = make();
  makeFolder(dirname(file));
  if (makeFileOnce(file, `${JSON.stringify(made, null, 2)}\n`)) return made;
  const first = await readSecretFile(file, schema);
  if (first === undefined)
    throw new UnusableKeys(`${file} was created and removed by another process while it was read`);
  return first;
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
