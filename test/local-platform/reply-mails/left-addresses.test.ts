import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import {
  CONFIRM_WITHIN_MS,
  CONFIRMATIONS,
  LeftAddresses,
} from '../../../src/local-platform/reply-mails/left-addresses.ts';
import type { LeftAddressRow } from '../../../src/local-platform/store/left-address-table.ts';
import { ServedShops } from '../../../src/local-platform/authenticate.ts';
import { Store } from '../../../src/local-platform/store/store.ts';
import { type Logger, silentLogger } from '../../../src/observability/logger.ts';
import { ends } from '../../support/ends.ts';
import { tempDir } from '../../support/temp-dir.ts';

const SHOP = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ANN = 'ann@example.com';

/** Addresses in a store, at a time that the test moves. */
function addresses({ hasEmail = true } = {}) {
  const shop = { address: hasEmail ? 'support@acme.example' : undefined };
  const dir = tempDir();
  ends(() => dir.remove());
  const clock = { at: Date.parse('2026-04-01T08:00:00Z') };
  const log: string[] = [];
  const warn = (event: string, fields = {}) => log.push(JSON.stringify({ event, ...fields }));
  const logger: Logger = { ...silentLogger, warn, with: () => logger };
  const open = () => {
    const store = new Store(dir.path);
    ends(() => store.close());
    const left = new LeftAddresses({
      ...{ store, logger, now: () => clock.at, waitMs: 120_000, onDue: () => undefined },
      secret: store.shops.secret('left-addresses'),
      addressOfShop: (id) => (id === SHOP ? shop.address : undefined),
      served: new ServedShops([
        { shopId: SHOP, apiKey: 'k', name: 'Acme', emailAddresses: ['*@shop.acme.example'] },
      ]),
    });
    const ask = (
      email: string,
      visitor: string = randomUUID(),
      network = `network of ${visitor}`,
    ) =>
      left.ask({
        ...{ shopId: SHOP.toUpperCase(), remotePrefix: `chat:${visitor}:`, email, network },
        language: 'en',
      });
    return { store, left, ask };
  };
  const rows = () => {
    const db = new Database(`${dir.path}/platform.sqlite`, { readonly: true });
    try {
      return db.prepare<[], LeftAddressRow>('SELECT * FROM left_addresses ORDER BY asked_at').all();
    } finally {
      db.close();
    }
  };
  return { clock, log, open, rows, ...open() };
}

const linkTo = (left: LeftAddresses, row: LeftAddressRow | undefined) =>
  row === undefined ? '' : left.tokenOf(row);

describe('confirmation mails', () => {
  test("a stranger who gives a person's address a hundred times, as many visitors, causes three a day", async () => {
    const { ask, rows, clock } = addresses();
    const spellings = [ANN, 'A.N.N@Example.com', 'a.nn+shoes@example.com'];
    for (let nth = 0; nth < 100; nth++) {
      const answer = await ask(spellings[nth % 3] ?? '');
      // The hundredth says no more than the first.
      expect(answer).toBe('confirms');
      clock.at += 60_000;
    }
    expect(rows()).toHaveLength(CONFIRMATIONS.perAddressADay);
    clock.at += DAY_MS;
    await ask(ANN);
    expect(rows()).toHaveLength(CONFIRMATIONS.perAddressADay + 1);
  });

  test('one visitor causes one to an address and three in all a day, also across restarts', async () => {
    const { ask, rows, clock, store, open } = addresses();
    for (let nth = 0; nth < 10; nth++) await ask(ANN, 'v');
    expect(rows()).toHaveLength(1);
    store.close();
    const { ask: askAgain } = open();
    await askAgain(ANN, 'v');
    expect(rows()).toHaveLength(1);
    for (const nth of Array(10).keys()) {
      await askAgain(`bob${nth}@example.com`, 'v', `network ${nth}`);
    }
    expect(rows()).toHaveLength(CONFIRMATIONS.perVisitorADay);
    clock.at += DAY_MS;
    await askAgain(ANN, 'v');
    expect(rows()).toHaveLength(CONFIRMATIONS.perVisitorADay + 1);
  });

  test('of a shop are thirty an hour, and more are logged once', async () => {
    const { ask, rows, clock, log } = addresses();
    const { perShopAnHour } = CONFIRMATIONS;
    for (const nth of Array(perShopAnHour + 20).keys()) await ask(`p${nth}@example.com`);
    expect(rows()).toHaveLength(perShopAnHour);
    expect(log).toEqual([JSON.stringify({ event: 'reply.confirmations_limited', shop: SHOP })]);
    clock.at += HOUR_MS;
    expect(await ask('late@example.com')).toBe('confirms');
    expect(rows()).toHaveLength(perShopAnHour + 1);
  });

  test.each([
    ['no-reply@example.com', 'confirms'],
    ['mailer-daemon@example.com', 'confirms'],
    ['support@acme.example', 'confirms'],
    ['Support+x@Acme.Example', 'confirms'],
    ['sales@acme.example', 'confirms'],
    ['anything@shop.acme.example', 'confirms'],
    ['ann@example.com, bob@example.com', 'invalid'],
    ['nonsense', 'invalid'],
    ['"You have won"@example.com', 'invalid'],
  ])('are not for %s, which the visitor is told only if it is no address', async (email, told) => {
    const { ask, rows, store } = addresses();
    store.conversations.addAgentContact(SHOP, 'sales@acme.example');
    expect(await ask(email)).toBe(told);
    expect(rows()).toEqual([]);
  });

  test('go to the address as it was written, with its tag', async () => {
    const { ask, rows } = addresses();
    expect(await ask('Ann.Lee+Shop-1@Example.com')).toBe('confirms');
    expect(rows()).toMatchObject([{ email: 'Ann.Lee+Shop-1@Example.com' }]);
  });

  test('for one network are five an hour, which is stored as a hash', async () => {
    const { ask, rows, clock } = addresses();
    const { perNetworkAnHour } = CONFIRMATIONS;
    const network = '192.0.2.7';
    for (const nth of Array(20).keys()) await ask(`p${nth}@example.com`, randomUUID(), network);
    expect(rows()).toHaveLength(perNetworkAnHour);
    expect(JSON.stringify(rows())).not.toContain(network);
    await ask('other@example.com');
    expect(rows()).toHaveLength(perNetworkAnHour + 1);
    clock.at += HOUR_MS;
    await ask('late@example.com', randomUUID(), network);
    expect(rows()).toHaveLength(perNetworkAnHour + 2);
  });

  test('of a shop without an address of its own are not promised, which is logged once', async () => {
    const { ask, rows, log } = addresses({ hasEmail: false });
    expect([await ask(ANN), await ask(ANN)]).toEqual([undefined, undefined]);
    expect(rows()).toEqual([]);
    expect(log).toEqual([JSON.stringify({ event: 'reply.no_shop_address', shop: SHOP })]);
  });

  test('of a shop of another platform are not promised', async () => {
    const { left } = addresses();
    const shopId = randomUUID();
    const asked = { shopId, remotePrefix: 'chat:v:', email: ANN, language: 'en', network: '::1' };
    expect(await left.ask(asked)).toBeUndefined();
  });
});

describe('an address', () => {
  test('that nobody confirms within seven days is forgotten, and its link ends', async () => {
    const { ask, rows, clock, left } = addresses();
    await ask(ANN);
    const token = linkTo(left, rows()[0]);
    clock.at += CONFIRM_WITHIN_MS - 1;
    await left.removeExpired();
    expect(left.ofToken(token)).toMatchObject({ email: ANN });
    clock.at += 1;
    expect(left.ofToken(token)).toBeUndefined();
    await left.removeExpired();
    expect(rows()).toEqual([]);
  });

  test('that was confirmed stays, and is not asked about again', async () => {
    const { ask, rows, clock, left } = addresses();
    await ask(ANN, 'v');
    const token = linkTo(left, rows()[0]);
    for (const row of rows()) await left.confirm(row);
    clock.at += 2 * CONFIRM_WITHIN_MS;
    await left.removeExpired();
    expect(left.ofToken(token)).toMatchObject({ confirmed_at: expect.any(Number) });
    expect(await ask(ANN, 'v')).toBe('confirms');
    expect(rows()).toHaveLength(1);
  });

  test("takes the place of the visitor's earlier one, whose link confirms nothing any more", async () => {
    const { ask, rows, clock, left } = addresses();
    await ask(ANN, 'v');
    clock.at += 1000;
    await ask('bob@example.com', 'v');
    const [first, second] = rows();
    expect(first).toMatchObject({ email: ANN, replaced_at: clock.at });
    if (first !== undefined) await left.confirm(first);
    expect(rows()[0]).toMatchObject({ confirmed_at: null });
    if (second !== undefined) await left.confirm(second);
    expect(rows()[1]).toMatchObject({ confirmed_at: clock.at, replaced_at: null });
    // They correct it back: the mail has been sent already, and its link works again.
    await ask(ANN, 'v');
    expect(rows()).toMatchObject([{ replaced_at: null }, { replaced_at: clock.at }]);
    if (first !== undefined) await left.confirm(first);
    expect(rows()[0]).toMatchObject({ confirmed_at: clock.at });
  });

  test.each([
    ['is a program', 'no-reply@example.com'],
    ['is the shop', 'support@acme.example'],
    ['was stopped', 'stopped@example.com'],
    ['has had its three a day', 'busy@example.com'],
  ])('is taken back by the visitor also when the new one %s', async (_why, email) => {
    const { ask, rows, clock, left } = addresses();
    for (let nth = 0; nth < CONFIRMATIONS.perAddressADay; nth++) await ask('busy@example.com');
    await ask('stopped@example.com');
    for (const row of rows().filter((each) => each.email.startsWith('stopped'))) {
      await left.stop(row);
    }
    await ask(ANN, 'v');
    for (const row of rows().filter((each) => each.email === ANN)) await left.confirm(row);
    clock.at += 1000;
    expect(await ask(email, 'v')).toBe('confirms');
    const [current] = rows().filter((each) => each.email === ANN);
    expect(current).toMatchObject({ confirmed_at: clock.at - 1000, replaced_at: clock.at });
    // The same again is not another one.
    await ask(ANN, 'v');
    expect(rows().find((each) => each.email === ANN)).toMatchObject({ replaced_at: null });
  });

  test('that differs by a dot from the one before gets a mail too', async () => {
    const { ask, rows, clock } = addresses();
    await ask('annlee@example.com', 'v');
    clock.at += 1000;
    await ask('ann.lee@example.com', 'v');
    expect(rows()).toMatchObject([
      { email: 'annlee@example.com', replaced_at: clock.at },
      { email: 'ann.lee@example.com', replaced_at: null },
    ]);
  });

  test('that was confirmed is found again after two mistyped ones', async () => {
    const { ask, rows, clock, left } = addresses();
    const names = ['ann.lee', 'annlee', 'anlee', 'ann.lee'];
    for (const [nth, name] of names.entries()) {
      await ask(`${name}@example.com`, 'v');
      if (nth === 0) for (const row of rows()) await left.confirm(row);
      clock.at += 1000;
    }
    const current = rows().filter(({ replaced_at: at }) => at === null);
    expect(current).toMatchObject([
      { email: 'ann.lee@example.com', confirmed_at: expect.any(Number) },
    ]);
  });

  test("is the shop's own as it is configured, with its tag and its whole domain", () => {
    const emailAddresses = ['info+chat@acme.example', '*@help.acme.example'];
    const shops = new ServedShops([{ shopId: SHOP, apiKey: 'k', name: 'Acme', emailAddresses }]);
    const isOwn = (email: string) => shops.isOwnEmail(SHOP, email);
    expect(shops.emailOf(SHOP)).toBe('info+chat@acme.example');
    expect(isOwn('Info+chat@Acme.example')).toBe(true);
    expect(isOwn('anything@help.acme.example')).toBe(true);
    expect(isOwn(ANN)).toBe(false);
    expect(shops.isOwnEmail(randomUUID(), 'info+chat@acme.example')).toBe(false);
  });

  test('that has been stopped is never written to again, whichever visitor asks', async () => {
    const { ask, rows, clock, left } = addresses();
    await ask(ANN, 'one');
    clock.at += 1;
    await ask('ann+x@example.com', 'other');
    const [row, other] = rows();
    if (row !== undefined) await left.stop(row);
    expect(rows()).toMatchObject([{ stopped_at: clock.at }, { stopped_at: clock.at }]);
    if (other !== undefined) await left.confirm(other);
    expect(rows()).toMatchObject([{ confirmed_at: null }, { confirmed_at: null }]);
    clock.at += 30 * DAY_MS;
    await left.removeExpired();
    expect(await ask('Ann@example.com', 'third')).toBe('confirms');
    expect(rows()).toEqual([]);
  });

  test.each([
    ['another key', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['no key', (token: string) => token.split('.')[0] ?? ''],
    ['another id', (token: string) => `${randomUUID()}.${token.split('.')[1] ?? ''}`],
    ['nothing', () => ''],
  ])('is not found by a link with %s', async (_what, changed) => {
    const { ask, rows, left } = addresses();
    await ask(ANN);
    const token = linkTo(left, rows()[0]);
    expect(left.ofToken(token)).toBeDefined();
    expect(left.ofToken(changed(token))).toBeUndefined();
  });
});
