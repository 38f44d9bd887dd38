import { ENTRY_STATES, type EntryState } from '../domain/entry-state.ts';
import type { EntryId } from '../domain/ids.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import type { Filter } from './queue-filter.ts';

/** Each state is counted up to this number. */
const MAX_COUNTED = 1000;

/**
 * Says why a search found nothing: what matches in other states or on earlier pages, or that nothing
 * matches at all.
 */
export async function nothingFound(
  index: Pick<EntryIndex, 'count'>,
  filter: Filter,
  before?: EntryId,
): Promise<string> {
  if (before !== undefined && (await index.count(filter, 1)) > 0) {
    return 'No older entries match; without --before, the newest are listed.\n';
  }
  const { states, ...anyState } = filter;
  if (states !== undefined) {
    const elsewhere = await countsOf(index, anyState, states);
    if (elsewhere.length > 0) {
      return `No entries that match are ${states.join(' or ')}. In other states: ${elsewhere.join(', ')}.\n`;
    }
  }
  return (await index.count({}, 1)) === 0 ? 'There are no entries.\n' : 'No entries match.\n';
}

/** `3 held`, for each other state that has matches. */
async function countsOf(
  index: Pick<EntryIndex, 'count'>,
  filter: Filter,
  without: readonly EntryState[],
): Promise<string[]> {
  const words: string[] = [];
  for (const state of ENTRY_STATES.filter((each) => !without.includes(each))) {
    const count = await index.count({ ...filter, states: [state] }, MAX_COUNTED + 1);
    const shown = count > MAX_COUNTED ? `over ${MAX_COUNTED}` : String(count);
    if (count > 0) words.push(`${shown} ${state}`);
  }
  return words;
}
