import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { updateSchema } from '../../src/runtime/sqlite-schema.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

const SCHEMA = {
  baseline: {
    number: 7,
    sql: 'CREATE TABLE people (name TEXT); CREATE INDEX names ON people(name)',
  },
  steps: ['ALTER TABLE people ADD COLUMN age INTEGER', "UPDATE people SET name = 'B' || name"],
};

function database(): Database.Database {
  const { path, remove } = tempDir();
  const db = new Database(join(path, 'x.db'));
  ends(() => {
    db.close();
    remove();
  });
  return db;
}

const tables = (db: Database.Database) =>
  db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY name').all();

test('an empty database gets the baseline and all steps; a second call changes nothing', () => {
  const db = database();
  expect(updateSchema(db, 'x.db', SCHEMA)).toBeUndefined();
  expect(db.pragma('user_version', { simple: true })).toBe(9);
  expect(db.pragma('table_info(people)')).toMatchObject([{ name: 'name' }, { name: 'age' }]);
  const made = tables(db);
  expect(updateSchema(db, 'x.db', SCHEMA)).toBeUndefined();
  expect(tables(db)).toEqual(made);
});

test.each([7, 8])('a database of schema %d gets the steps after it, and keeps its rows', (from) => {
  const db = database();
  updateSchema(db, 'x.db', { ...SCHEMA, steps: SCHEMA.steps.slice(0, from - 7) });
  db.prepare('INSERT INTO people (name) VALUES (?)').run('ob');
  expect(updateSchema(db, 'x.db', SCHEMA)).toBeUndefined();
  expect(db.prepare('SELECT * FROM people').all()).toEqual([{ name: 'Bob', age: null }]);
});

test('another process that was faster, with a newer program, is not undone', () => {
  const { path, remove } = tempDir();
  ends(remove);
  const [one, other] = [new Database(join(path, 'x.db')), new Database(join(path, 'x.db'))];
  ends(() => [one, other].forEach((db) => db.close()));
  updateSchema(one, 'x.db', { ...SCHEMA, steps: [] });
  const newer = { ...SCHEMA, steps: [...SCHEMA.steps, 'CREATE TABLE newer (a)'] };
  const transaction = one.transaction.bind(one);
  // The other one updates it between the first look and the lock.
  one.transaction = ((work: () => void) => {
    updateSchema(other, 'x.db', newer);
    return transaction(work);
  }) as typeof transaction;
  expect(updateSchema(one, 'x.db', SCHEMA)).toBeUndefined();
  expect(other.pragma('user_version', { simple: true })).toBe(10);
});

test('a step that fails leaves the database as it was', () => {
  const db = database();
  updateSchema(db, 'x.db', { ...SCHEMA, steps: [] });
  const before = tables(db);
  const broken = { ...SCHEMA, steps: [SCHEMA.steps[0] ?? '', 'no SQL'] };
  expect(() => updateSchema(db, 'x.db', broken)).toThrow('syntax error');
  expect([tables(db), db.pragma('user_version', { simple: true })]).toEqual([before, 7]);
});

test('an older and a newer database are refused in words that say what to do, and are not changed', () => {
  for (const [found, words] of [
    [
      6,
      'x.db was written by an older version (schema 6; this version supports 7 and later): start build',
    ],
    [
      10,
      'x.db was written by a newer version (schema 10; this version supports 9): run the newer version',
    ],
  ] as const) {
    const db = database();
    db.pragma(`user_version = ${found}`);
    expect(updateSchema(db, 'x.db', SCHEMA)).toContain(words);
    expect(tables(db)).toEqual([]);
  }
});
