import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type Database from 'better-sqlite3';
import { Follow, openToRead } from './follow.ts';
import { type IndexDb, isDamage, openIndex, removeIndex } from './index-database.ts';
import { SearchIndex } from './search-index.ts';
import type { SearchWorkerOptions } from './search-protocol.ts';

interface Open {
  readonly inode: number;
  readonly index: IndexDb;
  readonly spool: Database.Database;
  readonly follow: Follow;
  readonly search: SearchIndex;
}

/** The index of one thread; opened when it is first needed, and again when its file has gone. */
export class OpenSearch {
  readonly #options: SearchWorkerOptions;
  #open: Open | undefined;

  constructor(options: SearchWorkerOptions) {
    this.#options = options;
  }

  /** What is damaged is made anew, and the work done again. */
  with<T>(work: (open: Open) => T): T {
    try {
      return work(this.#now());
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.close();
      removeIndex(this.#options.indexFile);
      return work(this.#now());
    }
  }

  #now(): Open {
    const { indexFile, spoolFile, blobFolder } = this.#options;
    if (this.#open !== undefined && inodeOf(indexFile) !== this.#open.inode) this.close();
    if (this.#open === undefined) {
      const index = openIndex(indexFile);
      const spool = openToRead(spoolFile);
      this.#open = {
        index,
        spool,
        inode: inodeOf(indexFile) ?? 0,
        follow: new Follow(index, spoolFile, blobFolder),
        search: new SearchIndex(index, spool),
      };
    }
    return this.#open;
  }

  /** Follows to the end, or until the time is over. */
  catchUp(withinMs: number): void {
    this.with(({ follow }) => {
      const until = performance.now() + withinMs;
      while (follow.step() && performance.now() < until) continue;
    });
  }

  close(): void {
    this.#open?.follow.close();
    this.#open?.spool.close();
    this.#open?.index.close();
    this.#open = undefined;
  }
}

const inodeOf = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.ino;
