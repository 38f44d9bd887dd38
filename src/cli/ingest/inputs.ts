import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { UsageError } from '../exit-codes.ts';
import { isSystemError } from '../../runtime/error-code.ts';

/** Something to read, with its format. */
export interface Input {
  /** The name as it is shown. */
  readonly file: string;
  readonly kind: 'eml' | 'mbox' | 'export';
  /** 0 if unknown. */
  readonly bytes: number;
  readonly read: () => AsyncIterable<Buffer>;
}

export interface Source {
  /** The input that `-` stands for. */
  readonly standardInput: (Readable & { readonly isTTY?: boolean }) | undefined;
  /** Aborts all reads. */
  readonly signal: AbortSignal;
}

/** The folders of a Maildir that contain messages; `tmp` contains incomplete ones. */
const MAILDIR = ['new', 'cur'];
const READ_BYTES = 256 * 1024;
/** The number of bytes by which a file's format is recognized. */
const START_BYTES = 64;

/**
 * The inputs that the arguments of `ingest` name: files and pipes themselves, the messages of a
 * Maildir in the order of their names (which begin with the time), or the .eml files of another
 * folder.
 * @throws {UsageError} an argument cannot be read or is none of these
 */
export async function inputsOf(
  paths: readonly string[],
  source: Source,
): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) inputs.push(...(await inputsAt(path, source)));
  return inputs;
}

async function inputsAt(path: string, source: Source): Promise<readonly Input[]> {
  if (path === '-') return [await standardInput(source)];
  try {
    const found = await stat(path);
    if (found.isDirectory()) return await inFolder(path, source);
    // `<(zcat box.gz)` of a shell.
    if (found.isFIFO()) return [await ofStream(path, createReadStream(path), source)];
    if (found.isFile()) return [fileInput(path, await kindOf(path), found, source)];
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw new UsageError(`${path} cannot be read (${cause.code})`, { cause });
  }
  throw new UsageError(`${path} is neither a file nor a folder`);
}

function standardInput(source: Source): Promise<Input> {
  const { standardInput: stream } = source;
  if (stream === undefined || stream.isTTY === true || stream.readableDidRead) {
    throw new UsageError('- reads a pipe from another program and can be given only once');
  }
  return ofStream('standard input', stream, source);
}

function fileInput(
  file: string,
  kind: Input['kind'],
  { size }: Pick<Stats, 'size'>,
  { signal }: Source,
): Input {
  const read = () => createReadStream(file, { highWaterMark: READ_BYTES, signal });
  return { file, kind, bytes: size, read };
}

async function inFolder(folder: string, source: Source): Promise<readonly Input[]> {
  const names = await readdir(folder);
  const isMaildir = MAILDIR.some((name) => names.includes(name));
  const files = isMaildir
    ? await maildirFiles(folder)
    : names.filter((name) => /\.eml$/i.test(name)).map((name) => join(folder, name));
  if (!isMaildir && files.length === 0) {
    throw new UsageError(
      `${folder} is not a Maildir (it has no folder cur or new) and has no .eml files`,
    );
  }
  const inputs: Input[] = [];
  for (const file of files.toSorted(byName)) {
    // A missing file or dangling link is reported when it is read; the other files are read anyway.
    const found = await stat(file).catch(() => undefined);
    if (found === undefined || found.isFile()) {
      inputs.push(fileInput(file, 'eml', found ?? { size: 0 }, source));
    }
  }
  return inputs;
}

async function maildirFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const part of MAILDIR) {
    const names = await namesIn(join(folder, part));
    files.push(
      ...names.filter((name) => !name.startsWith('.')).map((name) => join(folder, part, name)),
    );
  }
  return files;
}

/** If one of the two folders of a Maildir is missing, it counts as empty. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Orders `cur` and `new` together: `1732233381.M1P2.host:2,S`. */
function byName(a: string, b: string): number {
  const name = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  return name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0;
}

async function kindOf(file: string): Promise<Input['kind']> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return kindBy(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function kindBy(bytes: Buffer): Input['kind'] {
  const start = bytes.toString('latin1').trimStart();
  if (start.startsWith('From ')) return 'mbox';
  return start.startsWith('{') ? 'export' : 'eml';
}

/** The format is recognized immediately, because a pipe cannot be read twice. */
async function ofStream(file: string, stream: Readable, { signal }: Source): Promise<Input> {
  addAbortSignal(signal, stream);
  // The reader gets stream errors; this listener only covers the time between reads.
  stream.on('error', () => undefined);
  // A stream without an encoding yields buffers.
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, void>;
  let start: Buffer = Buffer.alloc(0);
  while (start.length < START_BYTES) {
    const next = await chunks.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  const read = async function* () {
    yield start;
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return;
      yield next.value;
    }
  };
  return { file, kind: kindBy(start), bytes: 0, read };
}
