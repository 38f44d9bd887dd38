import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { MIGRATIONS } from '../../../src/spool/sqlite/migrations.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeChatStore } from '../chat-conformance.ts';

describeChatStore('SQLite', async () => {
  const dir = tempDir();
  let current = await openStore(dir.path);
  return {
    ...current,
    visitorIds: () => {
      const db = new Database(join(dir.path, 'spool.db'), { readonly: true });
      const rows = db.prepare<[], { id: string }>('SELECT id FROM visitors ORDER BY no').all();
      db.close();
      return Promise.resolve(rows.map(({ id }) => id));
    },
    reopen: async () => {
      await current.spool.close();
      current = await openStore(dir.path);
      return current;
    },
    remove: async () => {
      await current.spool.close();
      dir.remove();
    },
  };
});

test('a spool of the version before is brought up to date with all that is in it', async () => {
  const guest = asVisitorId('a'.repeat(32));
  const known = asVisitorId('b'.repeat(32));
  const old = tempDir();
  ends(() => old.remove());
  const db = new Database(join(old.path, 'spool.db'));
  for (const step of MIGRATIONS.slice(0, 2)) db.exec(step);
  db.pragma('user_version = 2');
  db.prepare(
    `INSERT INTO visitors (shop, id, conversation, last_seq, created_at) VALUES (?, ?, 3, 1, 1)`,
  ).run(SHOP, guest);
  db.prepare(
    `INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state)
     VALUES (1, 1, 'visitor', 'g1', 'hello', 'TEXT', '[]', 1, 'accepted')`,
  ).run();
  db.close();
  const { chat, spool } = await openStore(old.path);
  ends(() => spool.close());
  expect(await chat.visitor(SHOP, guest)).toMatchObject({ lane: `${guest}/3`, lastSeq: 1 });
  await chat.createVisitor({ shopId: SHOP, id: known, subject: 'ada', createdAt: 1 });
  await chat.identifyVisitor({
    ...{ shopId: SHOP, subject: 'ada', guestId: guest, newId: known, at: 9 },
  });
  expect(await chat.linesAfter(SHOP, known, 0, 100)).toMatchObject([{ seq: 1, id: 'g1' }]);
});
