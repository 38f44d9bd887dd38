import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from '@jest/globals';
import {
  GroupCommit,
  LocalPlatformUnusable,
  openDatabase,
} from '../../src/local-platform/store/database.ts';
import type { Message, Page } from '../../src/platform-api/resources.ts';
import { anEmail, call, create, messagesOf, newFolder, startPlatform } from './harness.ts';

describe('a restart', () => {
  it('keeps all data, including dedup keys', async () => {
    const dir = newFolder();
    const request = anEmail();
    const first = await startPlatform({ dir });
    const before = await create(first, request);
    const page = await call<Page<Message>>(first, 'GET', '/messages/');
    await first.stop();

    const second = await startPlatform({ dir });
    expect((await call<Page<Message>>(second, 'GET', '/messages/')).body).toEqual(page.body);
    const again = await create(second, request);
    expect([again.status, again.body]).toEqual([200, before.body]);
    const answer = await create(
      second,
      anEmail({ message: { email: { in_reply_to: request.message.remote_id ?? '' } } }),
    );
    expect(answer.body.conversation_id).toBe(before.body.conversation_id);
    expect(await messagesOf(second, before.body.conversation_id)).toHaveLength(2);
  });
});

describe('the database', () => {
  it('is opened with full synchronous writes, the second time too', () => {
    const file = join(newFolder(), 'platform.sqlite');
    for (let open = 0; open < 2; open++) {
      const db = openDatabase(file);
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      db.close();
    }
  });

  it('is refused when it has a newer schema or is not a database', () => {
    const folder = newFolder();
    const newer = join(folder, 'newer.sqlite');
    const db = new Database(newer);
    db.pragma('user_version = 99');
    db.close();
    expect(() => openDatabase(newer)).toThrow(/newer version \(schema 99/);

    const noise = join(folder, 'noise.sqlite');
    writeFileSync(noise, 'not a database '.repeat(1000));
    expect(() => openDatabase(noise)).toThrow(LocalPlatformUnusable);
  });
});

describe('group commit', () => {
  it('rolls back and rejects a write that throws alone, and resolves the others', async () => {
    const db = openDatabase(join(newFolder(), 'x.sqlite'));
    db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)');
    const commit = new GroupCommit(db);
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    const write = (n: number, fails: boolean) =>
      commit.run(() => {
        insert.run(n);
        if (fails) throw new Error('no');
        return n;
      });
    const results = await Promise.allSettled([write(1, false), write(2, true), write(3, false)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(db.prepare('SELECT n FROM t').pluck().all()).toEqual([1, 3]);
    db.close();
  });

  it('rejects all when the commit fails', async () => {
    const db = openDatabase(join(newFolder(), 'x.sqlite'));
    db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)');
    const commit = new GroupCommit(db);
    const writes = [1, 2].map((n) =>
      commit.run(() => db.prepare('INSERT INTO t VALUES (?)').run(n)),
    );
    db.close();
    const results = await Promise.allSettled(writes);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
