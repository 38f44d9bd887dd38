import { describe, expect, test } from '@jest/globals';
import type Database from 'better-sqlite3';
import { matchOf, readTerms } from '../../src/spool/search/match.ts';
import { fold, queryOf, type TermQuery, termsOf } from '../../src/spool/search-terms.ts';
import { IndexDatabase } from '../../src/spool/search/index-database.ts';

/** Whether the real tokenizer and the real query language find it. */
function finds(texts: readonly string[], typed: string, ids: readonly string[] = []): boolean {
  const { db } = new IndexDatabase(':memory:');
  try {
    db.prepare(`INSERT INTO words (rowid, terms) VALUES (1, ?)`).run(
      termsOf({ texts, ids }).join(' '),
    );
    const query = queryOf(typed);
    if (query === undefined) return false;
    return isFound(db, query);
  } finally {
    db.close();
  }
}

/** By FTS5's own beginnings of words, and with each term named: the two must agree. */
function isFound(db: Database.Database, query: TermQuery): boolean {
  const matches = db.prepare(`SELECT 1 FROM words WHERE words MATCH ?`);
  const merged = matches.get(matchOf(query, () => undefined)) !== undefined;
  expect(matches.get(matchOf(query, readTerms(db, 'main'))) !== undefined).toBe(merged);
  return merged;
}

const ANNA = 'Anna Müller <anna.muller+shop@mail.example.com>';

describe('what is found', () => {
  test.each([
    [ANNA, 'anna'],
    [ANNA, 'ANN'],
    [ANNA, 'muller'],
    [ANNA, 'Müll'],
    [ANNA, 'anna.muller+shop@mail.example.com'],
    [ANNA, 'Anna.Muller+Shop@MAIL'],
    [ANNA, 'muller+shop@mail'],
    [ANNA, '@mail.example.com'],
    [ANNA, '@mail'],
    [ANNA, 'example.com'],
    [ANNA, '<anna.muller+shop@mail.example.com>'],
    [ANNA, 'müller anna'],
    ['Où est ma commande n° 2024-000117 ?', 'ou commande'],
    ['Où est ma commande n° 2024-000117 ?', '2024-000117'],
    ['Où est ma commande n° 2024-000117 ?', '2024-0001'],
    ['Où est ma commande n° 2024-000117 ?', '000117'],
    ['Straße in Łódź', 'strasse lodz'],
    ['Ærøskøbing', 'aeroskobing'],
    ['ﬁnal ＡＢＣ１２３', 'final abc123'],
    ['Order #1000234', '1000234'],
    ['Order #1000234', '#1000'],
    ['注文番号の確認について', '確認'],
    ['注文番号の確認について', '注'],
    ['注文番号の確認について', 'て'],
    ['注文番号の確認について', '番号の確認'],
    ['ＶＩＰ会員のお客様', 'vip 会員'],
    ['我的订单在哪里', '订单'],
    ['배송조회가 안돼요', '조회'],
    ['สินค้ายังไม่มาถึง', 'ยัง'],
    ['Где мой заказ', 'заказ'],
    ['Που είναι η παραγγελία', 'παραγγελια'],
    ['שָׁלוֹם', 'שלום'],
    ["it's O'Brien", "o'brien"],
  ])('%j by %j', (text, typed) => {
    expect(finds([text], typed)).toBe(true);
  });

  test.each([
    '+1 555-000-1111',
    '+15550001111',
    '15550001111',
    '5550001111',
    '(555) 000-1111',
    '555 000 1111',
    '555.000.1111',
    '0015550001111',
    '0001111',
    '1111',
    '+1555',
  ])('the number +15550001111 by %j', (typed) => {
    expect(finds(['+15550001111'], typed)).toBe(true);
    expect(finds(['whatsapp:+15550001111'], typed)).toBe(true);
    expect(finds(['call me: +1 (555) 000-1111 now'], typed)).toBe(true);
  });

  test('a national writing with its trunk zero', () => {
    expect(finds(['+49 171 2345678'], '0171 2345678')).toBe(true);
    expect(finds(['+491712345678'], '0171/2345678')).toBe(true);
  });

  test.each([
    '0192f7aa-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
    '0192F7AA-1c2d',
    '0192f7aa-1c2d-7e3f',
    '0192f7aa-1c2d-7e3f-8a4b-5c6d',
    '0192f7aa',
    '<abc.123@mail.example>',
    'abc.123@mail.example',
    'abc.123@',
    'conv_77',
  ])('an id by %j', (typed) => {
    const ids = ['0192f7aa-1c2d-7e3f-8a4b-5c6d7e8f9a0b', '<abc.123@mail.example>', 'conv_778899'];
    expect(finds([], typed, ids)).toBe(true);
  });
});

test('a UUID is looked for as a whole, also in texts, and by its beginning alone', () => {
  const id = '0192f7aa-1c2d-7e3f-8a4b-5c6d7e8f9a0b';
  expect(queryOf(id)).toEqual({ begins: id });
  expect(queryOf(id.slice(0, 20))).toEqual({ begins: id.slice(0, 20) });
  expect(finds([`Ticket ${id} is open`], id, [])).toBe(true);
  expect(finds([id], '0192f7aa-1c2d-7e3f-8a4b-5c6d7e8f9a0c', [])).toBe(false);
});

describe('what is not found', () => {
  test.each([
    [ANNA, 'otto'],
    [ANNA, 'anna otto'],
    [ANNA, 'nna'],
    [ANNA, 'anna@mail.example.com'],
    [ANNA, 'muller@mail.example.com'],
    ['order for com, a b', 'a@b.com'],
    ['+15550001111', '5550001112'],
    ['+15550001111', '55500011'],
    ['注文番号', '番文'],
    ['x', '"'],
    ['x', '?!'],
    ['x', ''],
  ])('%j by %j', (text, typed) => {
    expect(finds([text], typed)).toBe(false);
  });

  test('what stands for a filter', () => {
    const { db } = new IndexDatabase(':memory:');
    db.prepare(`INSERT INTO words (rowid, terms) VALUES (1, ?)`).run('=sdead =cemail ~123 x');
    for (const typed of ['=sdead', '"=sdead"', '=s', 'a OR "=sdead"*']) {
      const query = queryOf(typed);
      expect([typed, query && isFound(db, query)]).not.toContain(true);
    }
    db.close();
  });
});

test.each([
  ['"', "'", '" OR "', 'a" AND "b', 'NEAR(a b)', 'a*', '^a', 'col:x', '-a', '\u0000x', '\ud800x'],
  Array.from({ length: 60 }, (_, code) => `x${String.fromCharCode(code)}y`),
  Array.from({ length: 40 }, (_, code) => String.fromCharCode(code + 0x5b)),
])('whatever is typed is a query that the index understands', (...typed) => {
  for (const one of typed) expect(() => finds(['a b'], one)).not.toThrow();
});

test('a long text makes few terms, in linear time', () => {
  const text = Array.from({ length: 200_000 }, (_, n) => `w${n}`).join(' ');
  expect(termsOf({ texts: [text], ids: [] }).length).toBeLessThanOrEqual(300);
  expect(JSON.stringify(queryOf('a'.repeat(100_000))).length).toBeLessThan(2000);
  const digits = '1 '.repeat(100_000);
  expect(termsOf({ texts: [digits], ids: [] }).join(' ').length).toBeLessThan(100);
});

test('folding leaves what has no case and no marks as it is', () => {
  expect(fold('Ğİß が 한국 Œ')).toBe('giss が 한국 oe');
});

describe('the terms that begin with', () => {
  const words = (count: number) => Array.from({ length: count }, (_, n) => `order${n + 10}`);

  test.each([
    ['orders', ['orders']],
    ['orde', ['order', 'ordered', 'orders']],
    ['ordex', []],
    ['zzzz', []],
    ['確認', ['確認']],
  ])('%s', (prefix, terms) => {
    const { db } = new IndexDatabase(':memory:');
    const add = db.prepare(`INSERT INTO words (rowid, terms) VALUES (?, ?)`);
    add.run(1, 'orders order 確認');
    add.run(2, 'ordered ordf order');
    expect(readTerms(db, 'main')(prefix)).toEqual(terms);
    db.close();
  });

  test('are named up to sixteen', () => {
    const { db } = new IndexDatabase(':memory:');
    const add = db.prepare(`INSERT INTO words (rowid, terms) VALUES (?, ?)`);
    add.run(1, words(16).join(' '));
    const terms = readTerms(db, 'main');
    expect(terms('order')).toEqual(words(16));
    add.run(2, 'order99');
    expect(terms('order')).toBeUndefined();
    db.close();
  });
});
