import { codeOf } from '../runtime/error-code.ts';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { makeFileOnce, makeFolder } from '../runtime/durable-files.ts';
import { SetUpUnusable, unusable } from '../domain/trouble.ts';
import { isOpenToOthers } from '../runtime/set-up-trouble.ts';
import { systemTrouble } from '../runtime/system-trouble.ts';

/** A file of generated keys exists and cannot be used. It is never replaced automatically. */
export class UnusableKeys extends SetUpUnusable {
  override name = 'UnusableKeys';
}

/**
 * Reads a file of generated keys; undefined when it does not exist.
 * @throws {UnusableKeys} this user may not read it, or it is damaged. The two are told apart,
 * because the fix for a damaged file (moving it away) would lose the keys of an intact one.
 */
export async function readSecretFile<T>(
  file: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unreadable(file, error, 'read');
  }
  try {
    const text = await readPrivately(handle, file);
    return parsed(file, text, schema);
  } finally {
    await handle.close();
  }
}

async function readPrivately(handle: FileHandle, file: string): Promise<string> {
  // A backup that was unpacked may have made it readable for others.
  const { mode } = await handle.stat();
  if (isOpenToOthers(mode)) {
    await handle.chmod(0o600).catch((error: unknown) => {
      throw unreadable(file, error, 'made private');
    });
  }
  return readFile(handle, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error, 'read');
  });
}

/** Errors of calls on an open file do not contain its path. */
function unreadable(file: string, error: unknown, to: 'read' | 'made private'): UnusableKeys {
  const code = codeOf(error) || 'unknown';
  const named = Object.assign(new Error(code), { code, syscall: 'open', path: file });
  const trouble = systemTrouble(named, { dataDir: dirname(file), to });
  if (trouble !== undefined) return unusable(trouble, error, UnusableKeys);
  return new UnusableKeys(`${file} cannot be ${to} (${code})`, { cause: error });
}

function parsed<T>(file: string, text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new UnusableKeys(
      `${file} is damaged. Restore it from a backup, or move it away to have new keys generated.`,
      { cause: error },
    );
  }
}

/**
 * Reads a file of keys, or creates it with mode 0600, complete and durable before it has its name.
 * If two processes create it at once, the first one wins and the other reads its file.
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

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';
