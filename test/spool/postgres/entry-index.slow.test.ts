import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { EntryId } from '../../../src/domain/ids.ts';
import type { EntryIndex, EntrySearch } from '../../../src/spool/entry-index.ts';
import type { NewEntry } from '../../../src/spool/entry.ts';
import { FILL, SPAN_BITS } from '../../../src/spool/postgres/cards.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { TERMS_VERSION } from '../../../src/spool/search-terms.ts';
import { waitFor } from '../../support/wait-for.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

let cluster: Cluster;
let url: string;
let client: pg.Client;
let dir: ReturnType<typeof tempDir>;
interface Gateway extends PostgresStore {
  readonly index: EntryIndex;
}
let opened: Gateway[];

beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
  client = new pg.Client(url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await cluster.stop();
});
beforeEach(() => {
  dir = tempDir();
  opened = [];
});
afterEach(async () => {
  for (const { index, spool } of opened) {
    await index.close();
    await spool.close();
  }
  await emptyStore(url);
  dir.remove();
});

async function open(role: 'owner' | 'beside' = 'owner'): Promise<Gateway> {
  const scratchFolder = join(dir.path, 'scratch');
  const store = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
  const gateway = { ...store, index: store.openIndex({ role }) };
  opened.push(gateway);
  return gateway;
}
const about = (subject: string, change: Partial<NewEntry> = {}): NewEntry =>
  anEntry({ ...change, summary: { from: '', to: '', subject, more: '' } });
const find = async ({ index }: Gateway, search: Partial<EntrySearch>) =>
  (await index.find({ limit: 1000, ...search })).found.map(({ entry }) => entry.id);
const number = async (sql: string): Promise<number> => {
  const { rows } = await client.query<{ n: string }>(`SELECT (${sql}) AS n`);
  return Number(rows[0]?.n);
};

interface Portion {
  readonly generation: number;
  readonly numbers: readonly number[];
  readonly entries: readonly { readonly seq: number; readonly id: EntryId }[];
}
/** What a gateway asks the database when it fills cards, one call at a time. */
async function fill(before?: Portion, term = 'stale', most = 100): Promise<Portion | null> {
  const cards = (before?.entries ?? []).map(({ seq }) => ({ seq, terms: [`0:${term}`] }));
  const { rows } = await client.query<{ next: Portion | null }>(
    `SELECT ${FILL.name}($1, $2, $3, $4, 0, 0, $5) AS next`,
    [...[before?.generation, JSON.stringify(cards), before?.numbers ?? [], most], TERMS_VERSION],
  );
  return rows[0]?.next ?? null;
}
async function takePortion(): Promise<Portion> {
  const portion = await fill();
  if (portion === null) throw new Error('another one is at work');
  // However slow the machine is.
  await client.query('UPDATE filling SET until = until + 600000');
  return portion;
}

describe('filling the cards', () => {
  test('several gateways at once find every entry, and fill each card once', async () => {
    const gateways = [await open(), await open(), await open('beside')];
    const entries = Array.from({ length: 900 }, () => about('shared words'));
    const accepts = gateways.map(({ spool }, n) =>
      spool.accept(entries.slice(300 * n, 300 * (n + 1))),
    );
    await Promise.all(accepts);
    // A search fills cards for a limited time and then answers without the rest.
    await waitFor('the cards', async () => {
      await Promise.all(gateways.map((gateway) => find(gateway, { text: 'no such text' })));
      const left = await Promise.all(gateways.map(({ index }) => index.backlog()));
      return left.every((count) => count === 0);
    });
    for (const gateway of gateways) {
      expect(new Set(await find(gateway, { text: 'shared' }))).toEqual(
        new Set(entries.map(({ id }) => id)),
      );
      expect(await gateway.index.backlog()).toBe(0);
    }
    expect(await number('SELECT count(*) FROM card')).toBe(900);
  });

  test('one gateway at a time does it; what it leaves undone is done by another', async () => {
    const gateway = await open();
    const entry = about('words');
    await gateway.spool.accept([entry]);
    const portion = await takePortion();
    expect(portion.entries).toMatchObject([{ id: entry.id }]);
    expect(await fill()).toBeNull();
    expect(await find(gateway, { text: 'words' })).toEqual([]);
    // The first one does not come back in time.
    await client.query('UPDATE filling SET until = 0');
    expect(await find(gateway, { text: 'words' })).toEqual([entry.id]);
    // When it does, its cards are not written any more.
    await fill(portion);
    expect(await find(gateway, { text: 'words' })).toEqual([entry.id]);
    expect(await find(gateway, { text: 'stale' })).toEqual([]);
  });

  test('an entry that changes after it was read is read again', async () => {
    const gateway = await open();
    await gateway.spool.accept([about('words')]);
    const portion = await takePortion();
    const [claimed] = await claimFrom(gateway.spool, SHOP, 1, 60_000);
    if (claimed === undefined) throw new Error('nothing to claim');
    const outcome = { state: 'delivered', platformMessageId: 'msg-77' } as const;
    await gateway.spool.settle(claimed.lease, outcome, { steps: [] });
    const next = await fill(portion, 'stale', 0);
    expect(next?.numbers).toEqual([]);
    expect(await find(gateway, { text: 'msg-77' })).toEqual([claimed.entry.id]);
  });

  test('an entry that is swept after it was read gets no card', async () => {
    const gateway = await open();
    await gateway.spool.accept([about('words', { hold: { code: 'dmarc' } })]);
    const portion = await takePortion();
    await gateway.spool.discard(portion.entries[0]?.id ?? anEntry().id);
    await gateway.spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: -1 });
    await gateway.spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: -1 });
    expect(await number('SELECT count(*) FROM entry')).toBe(0);
    await fill(portion, 'stale', 0);
    expect(await number('SELECT count(*) FROM card')).toBe(0);
    expect(await number('SELECT count(*) FROM dirty')).toBe(0);
  });

  test('an entry whose card the database refuses keeps no other from being found', async () => {
    const gateway = await open();
    const entries = ['one', 'two', 'unwanted', 'four'].map((subject) => about(`words ${subject}`));
    await gateway.spool.accept(entries);
    await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.terms::text LIKE '%:unwanted%' THEN RAISE 'unwanted'; END IF; RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON card FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      do expect(await find(gateway, { text: 'no such text' })).toEqual([]);
      while ((await gateway.index.backlog()) > 0);
      const [one, two, , four] = entries.map(({ id }) => id);
      expect(await find(gateway, { text: 'words' })).toEqual([four, two, one]);
    } finally {
      await client.query('DROP TRIGGER refuse ON card; DROP FUNCTION refuse');
    }
  });

  test('new terms are made for all entries, and not by an earlier version', async () => {
    const gateway = await open();
    const entry = about('words');
    await gateway.spool.accept([entry]);
    expect(await find(gateway, { text: 'words' })).toEqual([entry.id]);
    await client.query(`UPDATE card SET terms = ''`);
    expect(await find(gateway, { text: 'words' })).toEqual([]);
    await client.query('UPDATE filling SET terms_version = terms_version - 1');
    expect(await find(gateway, { text: 'words' })).toEqual([entry.id]);

    await client.query('UPDATE filling SET terms_version = terms_version + 1');
    await gateway.spool.accept([about('later words')]);
    expect(await find(gateway, { text: 'later' })).toEqual([]);
    expect(await gateway.index.backlog()).toBe(1);
  });

  test('goes on after the connections were cut in the middle of it', async () => {
    const gateway = await open();
    const entries = Array.from({ length: 1500 }, () => about('words'));
    await gateway.spool.accept(entries);
    const searches = Array.from({ length: 4 }, () => find(gateway, { text: 'no such text' }));
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'`,
    );
    const answers = await Promise.allSettled(searches);
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        expect(answer.reason).toMatchObject({ name: 'SpoolUnavailable' });
      }
    }
    await client.query('UPDATE filling SET until = 0');
    while ((await gateway.index.backlog()) > 0) await find(gateway, { text: 'no such text' });
    expect(await gateway.index.count({ text: 'words' }, 10_000)).toBe(1500);
  });
});

describe('searching', () => {
  test('goes from span to span, newest first, and past spans without entries', async () => {
    const gateway = await open();
    const size = 2 ** SPAN_BITS;
    const at = 1_700_000_000_000;
    const ids: EntryId[] = [];
    for (const first of [5 * size - 2, 9 * size - 1]) {
      await client.query(`SELECT setval('entry_seq', $1)`, [first - 1]);
      for (let n = 0; n < 4; n += 1) {
        const entry = about('words', { receivedAt: at + ids.length, channel: 'web_chat' });
        await gateway.spool.accept([entry]);
        ids.unshift(entry.id);
      }
    }
    // Before and after their cards are filled.
    for (const text of [undefined, 'words']) {
      const filters: Partial<EntrySearch>[] = [
        {},
        { shopId: SHOP },
        { channel: 'web_chat' },
        { states: ['queued'] },
      ];
      for (const filter of filters) {
        const search = { ...filter, ...(text && { text }) };
        expect(await find(gateway, search)).toEqual(ids);
        expect(await find(gateway, { ...search, limit: 3 })).toEqual(ids.slice(0, 3));
        expect(await find(gateway, { ...search, before: ids[2] ?? anEntry().id })).toEqual(
          ids.slice(3),
        );
        expect(await find(gateway, { ...search, from: at + 1, to: at + 4 })).toEqual(
          ids.slice(4, 7),
        );
        expect(await gateway.index.count(search, 5)).toBe(5);
      }
    }
  });

  test.each([
    `'`,
    `''" OR 1=1 --`,
    `\\`,
    `a\\'b`,
    `:*`,
    `a:*b & !c | (d`,
    `<-> a`,
    `\u0000x`,
    `x\ud800y`,
    `😀`,
    `${'y'.repeat(119)}😀`,
    `=s${SHOP}`,
    `%_`,
    `$1`,
  ])('takes %j as words, whoever wrote it', async (hostile) => {
    const gateway = await open();
    const entries = [
      about(hostile),
      about(`x ${hostile} hostile`),
      anEntry({ remoteId: `r${hostile.replace(/\0/g, '')}` }),
    ];
    await gateway.spool.accept(entries);
    expect(await find(gateway, { text: 'hostile' })).toEqual([entries[1]?.id]);
    const found = await find(gateway, { text: hostile });
    const other = await find(gateway, { text: `hostile ${hostile}` });
    expect(other.every((id) => id === entries[1]?.id)).toBe(true);
    expect(found.length).toBeLessThanOrEqual(3);
    expect(await gateway.index.count({ text: hostile, reason: hostile }, 10)).toBe(0);
    expect(await gateway.index.find({ before: hostile as EntryId, limit: 1 })).toEqual({
      found: [],
    });
    expect(await gateway.index.neighbours(hostile as EntryId)).toEqual({});
    expect(await gateway.index.summaries([hostile as EntryId])).toEqual(new Map());
    expect(await gateway.index.backlog()).toBe(0);
  });

  test('a closed index answers nothing', async () => {
    const { index } = await open();
    await index.close();
    await expect(index.find({ limit: 1 })).rejects.toMatchObject({ name: 'SpoolUnavailable' });
  });
});
