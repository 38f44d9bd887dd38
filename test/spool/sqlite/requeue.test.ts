import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimDirectly, SHOP, because } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('what a command requeues is due at once by a gateway whose clock is behind', () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'));
  ends(() => db.close());
  const gateway = createOperations(db, Date.now).operations;
  const command = createOperations(db, () => Date.now() + 600_000).operations;
  const entry = anEntry();
  gateway.accept([entry]);
  const [claimed] = claimDirectly(gateway, SHOP, 1, 60_000);
  if (claimed === undefined) throw new Error('nothing was claimed');
  gateway.settle(claimed.lease, { state: 'dead', reason: because('no') }, { steps: [] });
  expect(command.requeue(entry.id)).toBe(true);
  expect(claimDirectly(gateway, SHOP, 1, 60_000)).toHaveLength(1);
});
