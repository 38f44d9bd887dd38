import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const COPIED_AT_ONCE = 1024 * 1024;

/** What was written may be gone, from the disk and soon from memory. */
export class SyncFailed extends Error {
  override name = 'SyncFailed';
  /** Of the system error: `EIO`. */
  readonly code: string;

  constructor(cause: unknown) {
    const code = codeOf(cause) ?? 'unknown';
    super(`fsync failed: ${code}`, { cause });
    this.code = code;
  }
}

/**
 * Everything that asks the disk to keep something. A file is durable when its bytes are synced and,
 * if it is new or was renamed, its folder too: a file that is synced is lost without its name.
 *
 * An fsync that fails is never tried again: Linux drops the pages that it could not write, and the
 * next fsync, which finds nothing left to write, succeeds. It is told, and ends the store, unless all
 * that it says is that there is no space for a file which does not count yet (`syncNew`).
 */
export class DurableFiles {
  readonly #onSyncFailure: (cause: SyncFailed) => void;
  readonly #folders = new Map<string, { running: Promise<void>; next?: Promise<void> }>();

  /** @param onSyncFailure told of every fsync that fails (see `syncNew`), before whoever asked for it is */
  constructor(onSyncFailure: (cause: SyncFailed) => void = () => undefined) {
    this.#onSyncFailure = onSyncFailure;
  }

  /** The bytes of a file, and its size. */
  async sync(handle: FileHandle): Promise<void> {
    await this.#told(handle.datasync());
  }

  /**
   * The same of a new file that nothing relies on before it has its name. Some file systems find out
   * only now that they have no space (delayed allocation, NFS): that is no failure of the disk, and
   * puts no other file in doubt. The caller removes this one.
   */
  async syncNew(handle: FileHandle): Promise<void> {
    try {
      await handle.datasync();
    } catch (error) {
      if (!isDiskFull(error)) this.#onSyncFailure(new SyncFailed(error));
      throw error;
    }
  }

  /**
   * The names in a folder. Callers that come while one sync is running share the next, which covers
   * everything that they did before they asked; when the running one fails, they fail with it.
   */
  syncFolder(folder: string): Promise<void> {
    const current = this.#folders.get(folder);
    if (current === undefined) return this.#beginFolder(folder);
    current.next ??= current.running.then(() => this.#beginFolder(folder));
    return current.next;
  }

  #beginFolder(folder: string): Promise<void> {
    const running = this.syncPath(folder)
      .then(() => undefined)
      .finally(() => {
        if (this.#folders.get(folder)?.running === running) this.#folders.delete(folder);
      });
    this.#folders.set(folder, { running });
    return running;
  }

  /** What something else has written. Resolves with its size. */
  async syncPath(path: string): Promise<number> {
    const handle = await open(path, 'r');
    try {
      await this.#told(handle.sync());
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  }

  /** A rename whose effect is durable when it resolves. */
  async rename(from: string, to: string): Promise<void> {
    await rename(from, to);
    await this.syncFolder(dirname(to));
  }

  /**
   * Replaces a file, readable by its owner alone, as a whole or not at all. For one writer, one call
   * after the other: the copy has the same name each time, so that what a crash leaves is written over.
   */
  async replace(file: string, content: string): Promise<void> {
    const temporary = `${file}.tmp`;
    try {
      const handle = await open(temporary, 'w', 0o600);
      try {
        await handle.writeFile(content);
        await this.syncNew(handle);
      } finally {
        await handle.close();
      }
      await this.rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async #told(sync: Promise<void>): Promise<void> {
    try {
      await sync;
    } catch (error) {
      this.#onSyncFailure(new SyncFailed(error));
      throw error;
    }
  }
}

/** For files on which no acknowledgement depends. */
export const durableFiles = new DurableFiles();

/** Makes a folder for its owner alone, with those above it, and syncs the folders that name them. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(folder); ; made = dirname(made)) {
    syncPathSync(dirname(made));
    if (made === resolve(first)) return;
  }
}

/**
 * Makes a file, readable by its owner alone, complete and durable before it has its name. False, and
 * nothing is changed, when the name is taken: of two processes that make it at once the first wins.
 */
export function makeFileOnce(file: string, content: string): boolean {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 });
    syncPathSync(temporary);
    // A link, unlike a rename, fails when the name is taken.
    linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncPathSync(dirname(file));
  return true;
}

/** A file or a folder, by a thread that may wait. */
export function syncPathSync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Puts a copy of a file in its place: what could only be read from memory is on the disk then. The
 * bytes are read and written, since a file system that copies by itself shares what is on the disk.
 */
export function renewFile(file: string): void {
  const temporary = `${file}.tmp`;
  try {
    copyBytes(file, temporary, 'w');
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncPathSync(dirname(file));
}

/** The same for a file that other processes have open: each byte is written over itself. */
export function rewriteFile(file: string): void {
  copyBytes(file, file, 'r+');
  syncPathSync(dirname(file));
}

function copyBytes(from: string, to: string, flag: 'w' | 'r+'): void {
  const buffer = Buffer.alloc(COPIED_AT_ONCE);
  const source = openSync(from, 'r');
  try {
    const target = openSync(to, flag, 0o600);
    try {
      for (let at = 0; ;) {
        const length = readSync(source, buffer, 0, buffer.length, at);
        if (length === 0) break;
        for (let written = 0; written < length;) {
          written += writeSync(target, buffer, written, length - written, at + written);
        }
        at += length;
      }
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Whether a system error says that there is no space, or none left for this user. */
export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** By the property: system errors are of another class in each context that loads them. */
function codeOf(error: unknown): string | undefined {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : undefined;
}
