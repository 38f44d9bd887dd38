import { partsOf } from '../tables.ts';
import type { Db } from './database.ts';

/**
 * Deletes entries, and has readers of `changes` remove them, too. What goes with their raw form is deleted before.
 * @param seqs a subquery with their numbers
 */
export const deletionsOf = (seqs: string): readonly string[] => [
  ...[...partsOf('sqlite', 'entry'), 'summaries', 'entries'].map(
    (table) => `DELETE FROM ${table} WHERE seq IN ${seqs}`,
  ),
  `INSERT INTO changes (seq) SELECT * FROM ${seqs}`,
];

/** Finds those of some blobs that no row names. */
export function unnamedBlobs(db: Db): <Name extends string>(names: readonly Name[]) => Name[] {
  const named = db.prepare<[{ blob: string }]>(
    `SELECT 1 FROM entries WHERE blob = @blob UNION ALL SELECT 1 FROM uploads WHERE blob = @blob LIMIT 1`,
  );
  return (names) => names.filter((blob) => named.get({ blob }) === undefined);
}
