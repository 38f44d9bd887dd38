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
import { codeOf } from './error-code.ts';

const COPIED_AT_ONCE = 1024 * 1024;

/** Written data may be lost: from the disk now, and from memory soon. */
export class SyncFailed extends Error {
  override name = 'SyncFailed';
  /** The code of the system error: `EIO`. */
  readonly code: string;

  constructor(cause: unknown) {
    const code = codeOf(cause) || 'unknown';
    super(`fsync failed: ${code}`, { cause });
    this.code = code;
  }
}

/**
 * Makes files durable. A file is durable when its bytes are synced and, if it is new or was
 * renamed, its folder is synced too; otherwise the file can be lost with its name.
 *
 * A failed fsync is never retried: Linux drops the pages that it could not write, so the next fsync
 * has nothing to write and succeeds. The failure is reported and ends the store, unless it only
 * says that there is no space for a file that nothing relies on yet (`syncNew`).
 */
export class DurableFiles {
  readonly #onSyncFailure: (cause: SyncFailed) => void;
  readonly #folders = new Map<string, { running: Promise<void>; next?: Promise<void> }>();

  /**
   * @param onSyncFailure called for every failed fsync (see `syncNew`), before its caller gets the
   * error
   */
  constructor(onSyncFailure: (cause: SyncFailed) => void = () => undefined) {
    this.#onSyncFailure = onSyncFailure;
  }

  /** Syncs the bytes of a file. */
  async sync(handle: FileHandle): Promise<void> {
    await this.#reported(handle.datasync());
  }

  /**
   * The same for a new file that nothing relies on before it has its name. Some file systems find
   * out only at this point that they have no space (delayed allocation, NFS). That is not a failure
   * of the disk and affects no other file. The caller removes the file.
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
   * Syncs the names in a folder. Calls that arrive while a sync is running share the next one,
   * which covers everything done before the calls. If the running sync fails, they fail with it.
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

  /** Syncs a file that other code has written. Resolves with its size. */
  async syncPath(path: string): Promise<number> {
    const handle = await open(path, 'r');
    try {
      await this.#reported(handle.sync());
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  }

  /** Renames durably: the new name is on the disk when it resolves. */
  async rename(from: string, to: string): Promise<void> {
    await rename(from, to);
    await this.syncFolder(dirname(to));
  }

  /**
   * Replaces a file atomically, readable by its owner only. It supports a single writer with one
   * call at a time: the temporary file always has the same name, so that the next call overwrites
   * one that a crash has left.
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

  async #reported(sync: Promise<void>): Promise<void> {
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

/**
 * Creates a folder for its owner only, including its parents, and syncs the folders that contain
 * them.
 */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(folder); ; made = dirname(made)) {
    syncPathSync(dirname(made));
    if (made === resolve(first)) return;
  }
}

/**
 * Creates a file, readable by its owner only, complete and durable before it has its name. Returns
 * false and changes nothing if the name exists: of two processes that create it at once, the first
 * wins.
 */
export function makeFileOnce(file: string, content: string): boolean {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 });
    syncPathSync(temporary);
    // Unlike a rename, a link fails if the name exists.
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

/** Syncs a file or a folder, in a thread that may block. */
function syncPathSync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Replaces a file with a copy of itself, so that content which could only be read from memory is
 * written to the disk. The bytes are read and written explicitly: a file system's own copy could
 * share the blocks on the disk.
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

/** The same for a file that other processes have open: every byte is overwritten with itself. */
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

/** Whether a system error reports a full disk or an exhausted quota. */
export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
