import { asEntryId, type EntryId } from '../domain/ids.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import { CommandFailed } from './exit-codes.ts';

/**
 * An id begins with its time in milliseconds, which is 12 digits. The first 8 alone would be the same for all entries of a
 * minute.
 */
const SHORT_CHARS = 13;
const BEGINNING = /^[0-9a-f]{8}[0-9a-f-]*$/;
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Of several entries with this beginning. */
const NAMED = 3;

export const shortId = (id: EntryId): string => id.slice(0, SHORT_CHARS);

/**
 * The id that a text means: a whole one, or the beginning of one that only one entry has. Another text is returned as it is:
 * no entry has this id.
 * @throws {CommandFailed} several entries have ids that begin like this
 */
export async function idOf(
  { index }: { readonly index: Pick<EntryIndex, 'find'> },
  text: string,
): Promise<EntryId> {
  const id = text.toLowerCase();
  if (!BEGINNING.test(id) || id.length >= LAST.length) return asEntryId(text);
  // Newest first: the entries with this beginning are the next older ones.
  const before = asEntryId(id + LAST.slice(id.length));
  const { found } = await index.find({ before, limit: NAMED + 1 });
  const ids = found.map(({ entry }) => entry.id).filter((each) => each.startsWith(id));
  if (ids.length > 1) {
    const more = ids.length > NAMED ? ' and others' : '';
    throw new CommandFailed(
      `several entries begin with ${id}: ${ids.slice(0, NAMED).join(', ')}${more}`,
    );
  }
  return ids[0] ?? asEntryId(text);
}
