import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { secureLog } from '../../../src/spool/sqlite/database.ts';
import { ends } from '../../support/ends.ts';
import { tempDir } from '../../support/temp-dir.ts';

let file = '';
let log = '';

/** A database whose log was left behind by a process that died. */
beforeEach(() => {
  const dir = tempDir();
  ends(() => dir.remove());
  const living = join(dir.path, 'living.db');
  const db = new Database(living);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (n)');
  for (let n = 0; n < 100; n += 1) db.prepare('INSERT INTO t VALUES (?)').run(n);
  mkdirSync(join(dir.path, 'left'));
  file = join(dir.path, 'left', 'spool.db');
  log = `${file}-wal`;
  copyFileSync(living, file);
  copyFileSync(`${living}-wal`, log);
  db.close();
});

const countIn = (db: Database.Database): unknown =>
  db.prepare('SELECT count(*) AS count FROM t').get();

function otherProcess(): Database.Database {
  const db = new Database(file);
  ends(() => db.close());
  return db;
}

test.each(['owner', 'beside'] as const)(
  '%s: all of the log is in the database, and the log gone',
  (role) => {
    secureLog(file, role);
    expect(existsSync(log)).toBe(false);
    const alone = new Database(file, { readonly: true, fileMustExist: true });
    ends(() => alone.close());
    expect(countIn(alone)).toEqual({ count: 100 });
  },
);

test('beside a process that has it open, a command leaves the log alone', () => {
  const other = otherProcess();
  expect(countIn(other)).toEqual({ count: 100 });
  const { ino, size } = statSync(log);
  secureLog(file, 'beside');
  expect(statSync(log)).toMatchObject({ ino, size });
});

test('beside a command that outlived the gateway, an owner keeps the file that both have open', () => {
  const command = otherProcess();
  expect(countIn(command)).toEqual({ count: 100 });
  const { ino } = statSync(log);
  secureLog(file, 'owner');
  expect(statSync(log).ino).toBe(ino);
  const owner = otherProcess();
  owner.prepare('INSERT INTO t VALUES (100)').run();
  expect(countIn(command)).toEqual({ count: 101 });
  command.prepare('INSERT INTO t VALUES (101)').run();
  expect(countIn(owner)).toEqual({ count: 102 });
  expect(owner.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('a folder without a log is left as it is', () => {
  secureLog(file, 'owner');
  const { mtimeMs } = statSync(file);
  secureLog(file, 'owner');
  expect(statSync(file).mtimeMs).toBe(mtimeMs);
});
