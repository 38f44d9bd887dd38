import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { indexFileOf } from './search/index-database.ts';
import { OpenSearch } from './search/open-search.ts';
import { type Purged, truncateLog } from './sqlite/erasure-bytes.ts';

/** An index that is far behind has all entries to read. */
const CATCH_UP_WITHIN_MS = 30 * 60_000;
const BUSY_MS = 60_000;

/**
 * Takes entries that are gone out of the search index, and writes it anew without them. No
 * acknowledgement waits for the index. Undefined: there is none.
 * @param dir the data folder
 */
export async function eraseFromIndex(dir: string): Promise<Purged | undefined> {
  const indexFile = indexFileOf(dir);
  if (!existsSync(indexFile)) return undefined;
  const search = new OpenSearch({
    ...{ indexFile, spoolFile: join(dir, 'spool.db') },
  });
  try {
    search.with(({ index }) => index.db.pragma(`busy_timeout = ${BUSY_MS}`));
    search.catchUp(CATCH_UP_WITHIN_MS);
    search.with(({ index }) => index.rewrite());
    await search.with(({ index }) => truncateLog(index.db));
    return 'rewritten';
  } finally {
    search.close();
  }
}
