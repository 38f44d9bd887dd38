import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A failed fsync. */
export interface FailedSync {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly path: string;
}

/** Controls `test/durability/lying-disk.c`: a folder on a disk that can lose its power. */
export class LyingDisk {
  readonly #root: string;
  readonly #shadow: string;
  readonly #library: string;

  private constructor(root: string, shadow: string, library: string) {
    this.#root = root;
    this.#shadow = shadow;
    this.#library = library;
  }

  /** @param root an existing folder; its content is lost unless it is fsynced */
  static async open(root: string, shadow: string, library: string): Promise<LyingDisk> {
    for (const kind of ['file', 'names', 'dropped']) {
      await mkdir(join(shadow, kind), { recursive: true });
    }
    return new LyingDisk(root, shadow, library);
  }

  /** The environment of a process that uses the disk. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      LYING_DISK_ROOT: this.#root,
      LYING_DISK_SHADOW: this.#shadow,
    };
  }

  /** Makes the nth fsync from now on fail whose path contains `part`. */
  async failSync(nth: number, part: string): Promise<void> {
    await writeFile(join(this.#shadow, 'arm'), `${nth} ${part}`);
  }

  async failed(): Promise<FailedSync | undefined> {
    const text = await read(join(this.#shadow, 'failed'));
    const [, at, path] = /^(\d+) (.*)/.exec(text) ?? [];
    return at === undefined || path === undefined ? undefined : { at: Number(at) / 1e6, path };
  }

  /** For each acknowledgement after the failed fsync: how long after it, in milliseconds. */
  async acksAfterFailure(): Promise<readonly number[]> {
    const lines = (await read(join(this.#shadow, 'acks'))).trim().split('\n');
    return lines.filter((line) => line !== '').map((line) => Number(line.split(' ')[0]) / 1000);
  }

  /** Ends the failures; dropped data remains lost. */
  async mend(): Promise<void> {
    await rm(join(this.#shadow, 'arm'), { force: true });
  }

  /** Resets the folder to what was fsynced; no process may be using it. */
  async cutPower(): Promise<void> {
    const { ino, birthtimeNs } = statSync(this.#root, { bigint: true });
    await rm(this.#root, { recursive: true });
    await this.#restore(`${ino}-${birthtimeNs}`, this.#root);
  }

  async #restore(key: string, folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await read(join(this.#shadow, 'names', key));
    for (const line of names.split('\n')) {
      const [, type, of, name] = /^([df]) (\S+) (.*)$/.exec(line) ?? [];
      if (of === undefined || name === undefined) continue;
      const path = join(folder, name);
      if (type === 'd') await this.#restore(of, path);
      else if (existsSync(join(this.#shadow, 'file', of))) {
        await copyFile(join(this.#shadow, 'file', of), path);
      } else {
        // Its name was fsynced, its content never was.
        await writeFile(path, '');
      }
    }
  }
}

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
