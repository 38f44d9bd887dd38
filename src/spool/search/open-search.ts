import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Follow } from './follow.ts';
import type { Purged } from '../erasure.ts';
import { truncateLog } from '../sqlite/vacuum.ts';
import { IndexDatabase, indexFileOf, isDamage, removeIndex } from './index-database.ts';
import { SearchIndex } from './search-index.ts';

interface Open {
  readonly inode: number;
  readonly index: IndexDatabase;
  readonly follow: Follow;
  readonly search: SearchIndex;
}

/** The index of one thread; opened on first use, and again when its file was replaced. */
export class OpenSearch {
  readonly #spoolFile: string;
  readonly #indexFile: string;
  #open: Open | undefined;

  /** @param dir a data folder with a store */
  constructor(dir: string) {
    this.#spoolFile = join(dir, 'spool.db');
    this.#indexFile = indexFileOf(dir);
  }

  /** Runs `work`; if the index is damaged, rebuilds it and runs `work` again. */
  with<T>(work: (open: Open) => T): T {
    try {
      return work(this.#now());
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.close();
      removeIndex(this.#indexFile);
      return work(this.#now());
    }
  }

  #now(): Open {
    if (this.#open !== undefined && inodeOf(this.#indexFile) !== this.#open.inode) this.close();
    if (this.#open === undefined) {
      const index = new IndexDatabase(this.#indexFile);
      this.#open = {
        index,
        inode: inodeOf(this.#indexFile) ?? 0,
        follow: new Follow(index, this.#spoolFile),
        search: new SearchIndex(this.#spoolFile, this.#indexFile),
      };
    }
    return this.#open;
  }

  /** Indexes until there is nothing left, or until the time is over. */
  catchUp(withinMs: number): void {
    this.with(({ follow }) => {
      const until = performance.now() + withinMs;
      while (follow.stepNow() && performance.now() < until) continue;
    });
  }

  close(): void {
    this.#open?.follow.close();
    this.#open?.search.close();
    this.#open?.index.close();
    this.#open = undefined;
  }
}

const inodeOf = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.ino;

/** An index that is far behind has to read all entries. */
const CATCH_UP_WITHIN_MS = 30 * 60_000;
const INDEX_BUSY_MS = 60_000;

/**
 * Removes deleted entries from the search index and rewrites it without them. No acknowledgement
 * waits for the index. Undefined: there is none.
 * @param dir the data folder
 */
export async function eraseFromIndex(dir: string): Promise<Purged | undefined> {
  if (!existsSync(indexFileOf(dir))) return undefined;
  const search = new OpenSearch(dir);
  try {
    search.with(({ index }) => index.db.pragma(`busy_timeout = ${INDEX_BUSY_MS}`));
    search.catchUp(CATCH_UP_WITHIN_MS);
    search.with(({ index }) => index.rewrite());
    await search.with(({ index }) => truncateLog(index.db));
    return 'rewritten';
  } finally {
    search.close();
  }
}
