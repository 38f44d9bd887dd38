import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '@jest/globals';
import { PLATFORM_SCHEMA } from '../../../src/local-platform/store/schema.ts';
import { UNVERIFIED_HEADER } from '../../../src/platform-api/schemas.ts';
import { newestOf } from '../../../src/runtime/sqlite-schema.ts';
import { ends } from '../../support/ends.ts';
import { anEmail, call, newFolder, startPlatform } from '../harness.ts';

test('names that only unconfirmed senders gave before the upgrade, or that are addresses, are not used', async () => {
  const dir = newFolder();
  const before = await startPlatform({ dir });
  const post = (email: string, name: string, headers?: Record<string, string>) =>
    call(before, 'POST', '/messages/', {
      body: anEmail({ contact: { email, name } }),
      ...(headers && { headers }),
    });
  const forged = { [UNVERIFIED_HEADER]: '203.0.113.0/24' };
  await post('ann@example.com', 'Forged', forged);
  await post('bob@example.com', 'Bob', forged);
  await post('bob@example.com', 'Bob');
  for (const name of ['cy', 'di', 'eve']) await post(`${name}@example.com`, name);
  await before.stop();

  const db = new Database(join(dir, 'platform.sqlite'));
  db.exec(`
    DROP INDEX messages_answers; DROP INDEX messages_person; DROP INDEX messages_by_people;
    DROP INDEX messages_limited; ALTER TABLE messages DROP COLUMN person;
    ALTER TABLE messages DROP COLUMN limit_reached;
    ALTER TABLE contacts DROP COLUMN is_name_claimed;
    DROP INDEX messages_echoes; ALTER TABLE conversations DROP COLUMN echoed_at;
    CREATE INDEX messages_unverified ON messages(shop, created_at)
      WHERE role = 'agent' AND unverified_from IS NOT NULL;
    UPDATE contacts SET name = 'ceo@bank.example' WHERE name = 'cy';
    UPDATE contacts SET name = 'Di@example.com' WHERE name = 'di';
    UPDATE contacts SET name = 'Eve @ Acme' WHERE name = 'eve';`);
  db.pragma(`user_version = ${newestOf(PLATFORM_SCHEMA) - 2}`);
  db.close();

  const after = await startPlatform({ dir });
  await after.stop();
  const read = new Database(join(dir, 'platform.sqlite'), { readonly: true });
  ends(() => read.close());
  const sql = 'SELECT name, is_name_claimed FROM contacts ORDER BY seq';
  expect(read.prepare(sql).raw().all()).toEqual([
    ['Forged', 1],
    ['Bob', 0],
    [null, 0],
    ['Di@example.com', 0],
    ['Eve @ Acme', 0],
  ]);
});

test('a database in which the limit that was reached has its former name is used', async () => {
  const dir = newFolder();
  const before = await startPlatform({ dir });
  await call(before, 'POST', '/messages/', {
    body: anEmail({ contact: { email: 'ann@example.com', name: 'ceo@bank.example' } }),
  });
  await before.stop();

  const db = new Database(join(dir, 'platform.sqlite'));
  db.exec(`
    ALTER TABLE messages RENAME COLUMN limit_reached TO left_because;
    DROP INDEX messages_limited;
    CREATE INDEX messages_left
      ON messages(shop, left_because, updated_at, sender, unverified_from)
      WHERE left_because IS NOT NULL;
    UPDATE messages SET left_because = 'person';
    UPDATE contacts SET name = 'ceo@bank.example';`);
  const version = db.pragma('user_version', { simple: true });
  db.close();

  const after = await startPlatform({ dir });
  await after.stop();
  const read = new Database(join(dir, 'platform.sqlite'), { readonly: true });
  ends(() => read.close());
  expect(read.pragma('user_version', { simple: true })).toBe(version);
  expect(read.prepare('SELECT limit_reached FROM messages').pluck().all()).toEqual(['person']);
  expect(read.prepare('SELECT name FROM contacts').pluck().all()).toEqual([null]);
  const indexes = read.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'messages_l%'");
  expect(indexes.pluck().all()).toEqual(['messages_limited']);
});
