import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asVisitorId, type VisitorId } from '../../../src/domain/ids.ts';
import { SpoolUnavailable } from '../../../src/spool/errors.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { addUpload } from '../chat-conformance.ts';
import { Dice } from '../../support/dice.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const GUEST = asVisitorId('a'.repeat(32));
const KNOWN = asVisitorId('b'.repeat(32));
const NEW = asVisitorId('c'.repeat(32));

let cluster: Cluster;
let url: string;
let one: PostgresStore;
let two: PostgresStore;
/** The test's own connection. */
let client: pg.Client;

beforeAll(async () => {
  // What a crash of the server would lose is not the subject here. A deadlock ends no test.
  cluster = await startCluster({ settings: ['fsync = off', `deadlock_timeout = '1h'`] });
  url = await cluster.createDatabase();
  client = new pg.Client(url);
  await client.connect();
  one = await openGateway();
  two = await openGateway();
  await client.query(PAUSES);
});
afterAll(async () => {
  await one.spool.close();
  await two.spool.close();
  await client.end();
  await cluster.stop();
});
beforeEach(async () => {
  for (const [id, subject] of [
    [GUEST, undefined],
    [KNOWN, 'ada'],
  ] as const) {
    await one.chat.createVisitor({ shopId: SHOP, id, ...(subject && { subject }), createdAt: 1 });
  }
});
afterEach(() => emptyStore(url));

async function openGateway(): Promise<PostgresStore> {
  const dir = tempDir();
  const scratchFolder = join(dir.path, 'scratch');
  return openPostgresStore({ url, instance: randomUUID(), scratchFolder });
}

/** A transaction that writes a line or an upload called "paused…" waits, when it commits, for a lock. */
const PAUSES = `
  CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER pause AFTER INSERT OR UPDATE ON journal DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.message_id LIKE 'paused%') EXECUTE FUNCTION pause();
  CREATE CONSTRAINT TRIGGER pause AFTER INSERT ON upload DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.id LIKE 'paused%') EXECUTE FUNCTION pause();`;

/** Pauses such transactions, and returns what lets them commit. */
async function pauseCommits(): Promise<() => Promise<void>> {
  let isPaused = true;
  await client.query('SELECT pg_advisory_lock(1)');
  const resume = async () => {
    if (isPaused) await client.query('SELECT pg_advisory_unlock(1)');
    isPaused = false;
  };
  ends(resume);
  return resume;
}

/** Until as many transactions wait for a lock, of a pause or of each other. */
const waiting = (count: number) =>
  waitFor(`${count} to wait`, async () => (await waitingProcesses()).length === count);

async function waitingProcesses(): Promise<readonly number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT DISTINCT pid FROM pg_locks WHERE NOT granted`,
  );
  return rows.map(({ pid }) => pid);
}

const say = (
  gateway: PostgresStore,
  messageId: string,
  visitorId: VisitorId = KNOWN,
  uploadIds: string[] = [],
) =>
  gateway.chat.acceptMessage(
    anEntry({
      ...{ channel: 'web_chat', dedupKey: `${visitorId}:${messageId}` },
      remoteId: `remote-of-${messageId}`,
    }),
    { visitorId, messageId, text: messageId, uploadIds },
  );
const reply = (gateway: PostgresStore, id: string, visitorId: VisitorId = KNOWN) =>
  gateway.chat.storeReply({
    ...{ shopId: SHOP, visitorId, platformMessageId: id, text: id, format: 'TEXT', at: 5 },
  });
const identify = (gateway: PostgresStore, guestId = GUEST) =>
  gateway.chat.identifyVisitor({ shopId: SHOP, subject: 'ada', guestId, newId: NEW, at: 9 });
const lines = (gateway: PostgresStore, after = 0, visitorId: VisitorId = KNOWN) =>
  gateway.chat.linesAfter(SHOP, visitorId, after, 1000);
const idsOf = async (gateway: PostgresStore, visitorId: VisitorId = KNOWN) =>
  (await lines(gateway, 0, visitorId)).map(({ seq, id }) => `${seq} ${id}`);
const upload = (gateway: PostgresStore, id: string, visitorId: VisitorId = KNOWN) =>
  addUpload(gateway, { id, visitorId, at: Date.now() });

const DELIVERED = { state: 'delivered', platformMessageId: 'p', conversationId: 'c' } as const;

/** Delivers everything, each lane's head in turn, and returns the messages in this order. */
async function deliverAll(): Promise<readonly string[]> {
  const delivered: string[] = [];
  for (let gateway = one; ; gateway = gateway === one ? two : one) {
    const claimed = await claimFrom(gateway.spool, SHOP, 10, 60_000);
    if (claimed.length === 0) return delivered;
    for (const { entry, lease } of claimed) {
      delivered.push(entry.remoteId);
      await gateway.spool.settle(lease, DELIVERED, { steps: [] });
    }
  }
}

describe('one visitor at two gateways', () => {
  test('has one order of lines, without gaps, in which the messages are delivered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const gateway = n % 2 === 0 ? one : two;
        return n % 5 === 4 ? reply(gateway, `r${n}`) : say(gateway, `m${n}`);
      }),
    );
    const told = answers.map((answer) => {
      if (answer === undefined || typeof answer === 'string') throw new Error('refused');
      return 'line' in answer ? answer.line.seq : answer.seq;
    });
    expect([...told].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
    const stored = await lines(one);
    expect(await lines(two)).toEqual(stored);
    const messages = stored.filter(({ from }) => from === 'visitor');
    expect(await deliverAll()).toEqual(messages.map(({ id }) => `remote-of-${id}`));
  });

  test('who sends a message at both is answered the same by both, and has one line', async () => {
    const copies = Array.from({ length: 20 }, (_, n) => say(n % 2 === 0 ? one : two, 'm1'));
    const answers = await Promise.all(copies);
    expect(new Set(answers.map((answer) => typeof answer !== 'string' && answer.id)).size).toBe(1);
    expect(
      answers.filter((answer) => typeof answer !== 'string' && !answer.duplicate),
    ).toHaveLength(1);
    expect(answers.every((answer) => typeof answer !== 'string' && answer.seq === 1)).toBe(true);
    expect(await idsOf(two)).toEqual(['1 m1']);
    expect(await deliverAll()).toEqual(['remote-of-m1']);
  });

  test('gets a reply once that both read from the platform', async () => {
    const appended = await Promise.all([one, two, one, two].map((gateway) => reply(gateway, 'r1')));
    expect(appended.filter((line) => line !== undefined)).toHaveLength(1);
    expect(await idsOf(one)).toEqual(['1 r1']);
  });

  test('reads at one what comes at the other by its number: no gap, no repeat', async () => {
    let isOver = false;
    const read = async (gateway: PostgresStore) => {
      const seen: string[] = [];
      for (;;) {
        const wasOver = isOver;
        const next = await gateway.chat.linesAfter(SHOP, KNOWN, seen.length, 3);
        seen.push(...next.map(({ seq, id }) => `${seq} ${id}`));
        if (wasOver && next.length === 0) return seen;
      }
    };
    const readers = Promise.all([read(one), read(two)]);
    for (let round = 0; round < 25; round += 1) {
      await Promise.all([
        ...[say(one, `a${round}`), say(two, `b${round}`)],
        ...[reply(one, `r${round}`), reply(two, `s${round}`)],
      ]);
    }
    isOver = true;
    const [atOne, atTwo] = await readers;
    expect(atOne).toEqual(await idsOf(one));
    expect(atTwo).toEqual(atOne);
    expect(atOne).toHaveLength(100);
  });

  test('is in one conversation after both began a new one', async () => {
    await say(one, 'm1');
    const begun = await Promise.all(
      [one, two].map((gateway) => gateway.chat.startConversation(SHOP, KNOWN)),
    );
    expect(begun.map(({ conversation }) => conversation)).toEqual([2, 2]);
    await say(two, 'm2');
    const [newest] = await one.spool.list({ limit: 1 });
    expect(newest?.lane).toBe(`${KNOWN}/2`);
  });

  test('uses an upload once', async () => {
    await upload(one, 'u1');
    const answers = await Promise.all([
      say(one, 'm1', KNOWN, ['u1']),
      say(two, 'm2', KNOWN, ['u1']),
    ]);
    expect(answers.filter((answer) => answer === 'unknown_upload')).toHaveLength(1);
    expect(await lines(one)).toMatchObject([{ seq: 1, attachments: [{ id: 'u1' }] }]);
  });

  test('keeps the file of an upload that nobody has used for more than a day', async () => {
    await upload(one, 'u1');
    await client.query('UPDATE blob SET at = 0');
    await one.spool.recover();
    const { rows } = await client.query('SELECT FROM upload JOIN blob ON blob.name = upload.blob');
    expect(rows).toHaveLength(1);
  });

  test('has as many unused uploads as are allowed, however they come', async () => {
    const all = Array.from({ length: 30 }, (_, n) => upload(n % 2 === 0 ? one : two, `u${n}`));
    expect((await Promise.all(all)).filter((isAdded) => isAdded)).toHaveLength(10);
    expect(await one.chat.countUnusedUploads(SHOP, KNOWN)).toBe(10);
  });

  test('has few reserved guests, however many tokens are used at both', async () => {
    const unused = Array.from({ length: 60 }, (_, n) => asVisitorId(String(n).padStart(32, '0')));
    await Promise.all(unused.map((id, n) => identify(n % 2 === 0 ? one : two, id)));
    const { rows } = await client.query('SELECT FROM visitor WHERE reserved');
    expect(rows).toHaveLength(20);
  });
});

describe('a commit that takes long', () => {
  test('is waited for by the visitor’s next line, so no reader misses a lower number', async () => {
    const resume = await pauseCommits();
    const slow = say(one, 'paused');
    await waiting(1);
    const [quick, answer] = [say(two, 'm2'), reply(two, 'r3')];
    await waiting(3);
    // The first line has its number by now. A line with a higher one must not be visible before.
    expect(await idsOf(two)).toEqual([]);
    await resume();
    expect(await slow).toMatchObject({ seq: 1 });
    await Promise.all([quick, answer]);
    expect(await lines(two)).toMatchObject([{ seq: 1, id: 'paused' }, { seq: 2 }, { seq: 3 }]);
    expect(await lines(two, 1)).toHaveLength(2);
  });

  test('does not hold up other visitors, marks or readers', async () => {
    await say(one, 'm1');
    const resume = await pauseCommits();
    const slow = say(one, 'paused');
    await waiting(1);
    expect(await say(two, 'g1', GUEST)).toMatchObject({ seq: 1 });
    expect(await two.chat.markMessage(SHOP, KNOWN, 'm1', 'delivered')).toBe(KNOWN);
    expect(await lines(two)).toMatchObject([{ id: 'm1', state: 'delivered' }]);
    await resume();
    await slow;
  });

  test('and loses its connection is stored once, when the client sends it again elsewhere', async () => {
    const resume = await pauseCommits();
    const slow = say(one, 'paused');
    await waiting(1);
    const next = say(two, 'm2');
    await waiting(2);
    const lost = expect(slow).rejects.toThrow(SpoolUnavailable);
    const [pid] = (
      await client.query<{ pid: number }>(
        `SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'advisory'`,
      )
    ).rows.map((row) => row.pid);
    await client.query('SELECT pg_terminate_backend($1)', [pid]);
    await lost;
    // The gateway's next call has another connection.
    expect(await one.chat.visitor(SHOP, KNOWN)).toMatchObject({ id: KNOWN });
    expect(await next).toMatchObject({ seq: 1 });
    await resume();
    expect(await say(two, 'paused')).toMatchObject({ seq: 2, duplicate: false });
    expect(await say(one, 'paused')).toMatchObject({ seq: 2, duplicate: true });
    expect(await deliverAll()).toEqual(['remote-of-m2', 'remote-of-paused']);
  });
});

describe('a guest who is recognised at one gateway', () => {
  test('brings along the line that is being stored at the other', async () => {
    await say(one, 'k1');
    const resume = await pauseCommits();
    const line = say(two, 'paused', GUEST);
    await waiting(1);
    const identified = identify(one);
    await waiting(2);
    await resume();
    expect(await line).toMatchObject({ seq: 1 });
    expect(await identified).toMatchObject({ joinedLines: 1 });
    expect(await idsOf(two)).toEqual(['1 k1', '2 paused']);
    expect(await say(one, 'paused')).toMatchObject({ seq: 2, duplicate: true });
  });

  test('sends the line again as the visitor, when it comes to the other meanwhile', async () => {
    await say(one, 'paused1', GUEST);
    const resume = await pauseCommits();
    const identified = identify(one);
    await waiting(1);
    const line = say(two, 'g2', GUEST);
    const answer = reply(two, 'r1', GUEST);
    const known = say(two, 'k1');
    await waiting(3);
    await resume();
    expect(await identified).toMatchObject({ superseded: GUEST, joinedLines: 1 });
    expect(await line).toBe('joined');
    expect(await answer).toMatchObject({ visitorId: KNOWN });
    expect(await known).toMatchObject({ duplicate: false });
    expect(await say(two, 'g2')).toMatchObject({ seq: 4, duplicate: false });
    expect((await lines(one)).map(({ id }) => id).sort()).toEqual(['g2', 'k1', 'paused1', 'r1']);
    expect(await lines(one, 0, GUEST)).toEqual([]);
  });

  test('and at the other, too, while a line waits for either, is no deadlock', async () => {
    // A guest of a later number than its visitor: recognising it locks the visitor first.
    const late = asVisitorId('f'.repeat(32));
    await one.chat.createVisitor({ shopId: SHOP, id: late, createdAt: 2 });
    await say(one, 'paused1', late);
    const resume = await pauseCommits();
    const first = identify(one, late);
    await waiting(1);
    const line = say(two, 'g2', late);
    await waiting(2);
    const second = identify(two, late);
    await waiting(3);
    await resume();
    expect((await Promise.all([first, second])).map(({ joinedLines }) => joinedLines)).toEqual([
      1, 0,
    ]);
    expect(await line).toBe('joined');
  });

  test('keeps a file that is being stored at the other', async () => {
    const resume = await pauseCommits();
    const stored = upload(two, 'paused', GUEST);
    await waiting(1);
    const identified = identify(one);
    await waiting(2);
    await resume();
    await Promise.all([stored, identified]);
    expect(await say(two, 'm1', KNOWN, ['paused'])).toMatchObject({ duplicate: false });
  });

  test('at both is recognised once', async () => {
    await say(one, 'g1', GUEST);
    const both = await Promise.all([identify(one), identify(two)]);
    expect(both.map(({ visitor }) => visitor.id)).toEqual([KNOWN, KNOWN]);
    expect(both.map(({ joinedLines }) => joinedLines).sort()).toEqual([0, 1]);
    expect(await idsOf(two)).toEqual(['1 g1']);
  });

  test('is one visitor when nobody had the identity and two devices come at once', async () => {
    const [left, right] = [asVisitorId('d'.repeat(32)), asVisitorId('e'.repeat(32))];
    for (const id of [left, right]) {
      await one.chat.createVisitor({ shopId: SHOP, id, createdAt: 1 });
      await say(one, `of-${id[0]}`, id);
    }
    const device = (gateway: PostgresStore, guestId: VisitorId) =>
      gateway.chat.identifyVisitor({
        ...{ shopId: SHOP, subject: 'eve', guestId, newId: NEW, at: 9 },
      });
    const both = await Promise.all([device(one, left), device(two, right)]);
    const [{ visitor }] = both;
    expect(new Set(both.map((each) => each.visitor.id)).size).toBe(1);
    const kept = await lines(two, 0, visitor.id);
    expect(kept.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(kept.map(({ id }) => id).sort()).toEqual(['of-d', 'of-e']);
  });

  test('loses nothing of what all tabs send and get, in any order of events', async () => {
    let seq = 0;
    for (let round = 0; round < 20; round += 1) {
      const dice = Dice.of(round);
      const gateway = () => dice.pick([one, two]);
      const guest = asVisitorId(String(round).padStart(32, 'e'));
      await one.chat.createVisitor({ shopId: SHOP, id: guest, createdAt: 1 });
      const idOf = (name: string) => `${round}-${name}`;
      // A client sends again as the visitor what was not stored for the guest.
      const send = async (id: string) => {
        const answer = await say(gateway(), id, guest);
        return answer === 'joined' ? say(gateway(), id) : answer;
      };
      const tab = async (name: string) => {
        for (let n = 0; n < 4; n += 1) await send(idOf(`${name}${n}`));
      };
      const events = [
        ...[tab('x'), tab('y'), say(gateway(), idOf('k1')), say(gateway(), idOf('k2'))],
        ...[reply(gateway(), idOf('r1'), guest), reply(gateway(), idOf('r2'), guest)],
        reply(gateway(), idOf('r2')),
        gateway().chat.markMessage(SHOP, guest, idOf('x0'), 'delivered'),
      ];
      await identify(gateway(), guest);
      await Promise.all([...events, identify(gateway(), guest), identify(gateway(), guest)]);
      // What the client did not hear about is sent again.
      await Promise.all(['x3', 'y3', 'x0'].map((name) => say(gateway(), idOf(name))));
      const added = await lines(one, seq);
      expect(added.map((line) => line.seq)).toEqual(added.map((_, index) => seq + index + 1));
      seq += added.length;
      const ids = added.map(({ id }) => id);
      const tabs = ['x', 'y'].map((name) => ids.filter((id) => id.startsWith(idOf(name))));
      expect(tabs).toEqual(['x', 'y'].map((name) => [0, 1, 2, 3].map((n) => idOf(`${name}${n}`))));
      const others = ['k1', 'k2', 'r1', 'r2'].map(idOf);
      expect([...ids].sort()).toEqual([...tabs.flat(), ...others].sort());
      expect(await deliverAll()).toHaveLength(10);
    }
  });
});
