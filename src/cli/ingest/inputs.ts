import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../exit-codes.ts';

/** A file to read, and as what. */
export interface Input {
  readonly file: string;
  readonly kind: 'eml' | 'mbox' | 'export';
  readonly bytes: number;
}

/** Folders of a Maildir that hold messages; `tmp` holds those that are not whole yet. */
const MAILDIR = ['new', 'cur'];

/**
 * What the arguments of `ingest` come to: files as they are, a Maildir as its messages in the order
 * of their names (which begin with the time), another folder as its .eml files.
 * @throws {UsageError} one cannot be read, or is neither
 */
export async function inputsOf(paths: readonly string[]): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) {
    const found = await statOf(path);
    if (found.isDirectory()) inputs.push(...(await inFolder(path)));
    else inputs.push({ file: path, kind: await kindOf(path), bytes: found.size });
  }
  return inputs;
}

async function inFolder(folder: string): Promise<readonly Input[]> {
  const names = await readdir(folder);
  const isMaildir = MAILDIR.some((name) => names.includes(name));
  const files = isMaildir
    ? await maildirFiles(folder)
    : names.filter((name) => /\.eml$/i.test(name)).map((name) => join(folder, name));
  if (!isMaildir && files.length === 0) {
    throw new UsageError(`${folder} is no Maildir (no folder cur or new) and has no .eml files`);
  }
  const inputs: Input[] = [];
  for (const file of files.toSorted(byName)) {
    const { size } = await statOf(file);
    inputs.push({ file, kind: 'eml', bytes: size });
  }
  return inputs;
}

async function maildirFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const part of MAILDIR) {
    const names = await readdir(join(folder, part)).catch(() => []);
    files.push(
      ...names.filter((name) => !name.startsWith('.')).map((name) => join(folder, part, name)),
    );
  }
  return files;
}

/** `cur` and `new` in one order: `1732233381.M1P2.host:2,S`. */
function byName(a: string, b: string): number {
  const name = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  return name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0;
}

async function kindOf(file: string): Promise<Input['kind']> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    const start = buffer.toString('latin1', 0, bytesRead).trimStart();
    if (start.startsWith('From ')) return 'mbox';
    return start.startsWith('{') ? 'export' : 'eml';
  } finally {
    await handle.close();
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    throw new UsageError(`${path} cannot be read`, { cause });
  }
}
