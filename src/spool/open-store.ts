import type { EntryIndex } from './entry-index.ts';
import { SearchThreads } from './search/search-threads.ts';
import { openSqliteStore, type SqliteSpoolOptions } from './sqlite/open.ts';
import type { Store } from './store.ts';

export interface OpenedStore extends Store {
  /**
   * Opens the index of the entries; the caller closes it before the spool.
   * @param onFailure the index cannot be updated, for this reason (a code or the error's name)
   */
  readonly openIndex: (onFailure?: (reason: string) => void) => EntryIndex;
}

/**
 * Opens the configured store.
 * @throws {SpoolUnusable} locked, damaged, or of a newer version
 */
export async function openStore(options: SqliteSpoolOptions): Promise<OpenedStore> {
  const { dir, role } = options;
  const store = await openSqliteStore(options);
  return {
    ...store,
    openIndex: (onFailure) => new SearchThreads({ dir, role, ...(onFailure && { onFailure }) }),
  };
}
