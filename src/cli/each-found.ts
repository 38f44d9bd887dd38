import type { EntryIndex, FoundEntry } from '../spool/entry-index.ts';
import { asEntryId, type EntryId } from '../domain/ids.ts';
import type { OpenSpool } from './open-spool.ts';
import type { Filter } from './queue-filter.ts';

const PAGE = 200;

/** All entries that match a filter, newest first, with one page in memory at a time. */
export async function* eachFound(
  index: Pick<EntryIndex, 'find'>,
  filter: Filter,
): AsyncGenerator<FoundEntry, void, undefined> {
  let before: EntryId | undefined;
  for (;;) {
    const { found, next } = await index.find({
      ...filter,
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    yield* found;
    if (next === undefined) return;
    before = next;
  }
}

/**
 * The same, oldest first: entries have to be ingested in their order of arrival. Their ids are held
 * in memory, 37 bytes each. Entries that are swept meanwhile are skipped.
 * @throws the signal's reason when it is aborted
 */
export async function* oldestFirst(
  { spool, index }: Pick<OpenSpool, 'spool' | 'index'>,
  filter: Filter,
  signal: AbortSignal,
): AsyncGenerator<FoundEntry, void, undefined> {
  const pages: Buffer[] = [];
  let ids: EntryId[] = [];
  const keep = () => {
    if (ids.length > 0) pages.push(Buffer.from(ids.join('\n'), 'latin1'));
    ids = [];
  };
  for await (const { entry } of eachFound(index, filter)) {
    signal.throwIfAborted();
    if (ids.push(entry.id) === PAGE) keep();
  }
  keep();
  for (const page of pages.reverse()) {
    const oldest = page.toString('latin1').split('\n').reverse().map(asEntryId);
    const summaries = await index.summaries(oldest);
    for (const id of oldest) {
      signal.throwIfAborted();
      const entry = await spool.get(id);
      const summary = summaries.get(id) ?? NO_SUMMARY;
      if (entry !== undefined) yield { entry, summary };
    }
  }
}

const NO_SUMMARY = { from: '', to: '', subject: '' };
