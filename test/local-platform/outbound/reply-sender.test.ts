import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import type { Agent } from '../../../src/local-platform/agent/agent.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import {
  nextAttemptAt,
  type ReplyNotice,
  RETRY_SCHEDULE,
} from '../../../src/local-platform/outbound/reply-sender.ts';
import type { RelayOptions } from '../../../src/runtime/relay-transport.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { type MailRelay, startMailRelay } from '../../support/mail-relay.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  create,
  messagesOf,
  newFolder,
  SHOP,
  startPlatform,
  ticketOf,
} from '../harness.ts';

const SOON = { delaysMs: [20], giveUpAfterMs: 60_000 };
const LATER = { delaysMs: [3_600_000], giveUpAfterMs: 86_400_000 };

const echo: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};
const through = ({ port }: MailRelay): RelayOptions => ({
  ...{ host: '127.0.0.1', port, implicitTls: false, tls: 'off' },
});

async function aRelay(): Promise<MailRelay> {
  const relay = await startMailRelay();
  ends(() => relay.close());
  return relay;
}

async function aPlatform(
  relay: MailRelay,
  schedule = SOON,
  more: { dir?: string; clock?: () => number } = {},
) {
  const replies: ReplyNotice[] = [];
  const platform = await startPlatform({
    agent: { kind: 'custom', agent: echo },
    replies: { relay: through(relay), schedule },
    onReply: (reply) => replies.push(reply),
    ...more,
  });
  return { platform, replies };
}

const replyTo = async (platform: LocalPlatform, { conversation_id: id }: Message) =>
  (await messagesOf(platform, id)).find(({ role }) => role === 'agent');

const settled = (platform: LocalPlatform, question: Message) =>
  waitFor('the state of the reply', async () => {
    const reply = await replyTo(platform, question);
    return reply?.status === 'PENDING' ? undefined : reply;
  });

/** A second connection to the database. */
function inStore<T>(dir: string, read: (db: Database.Database) => T): T {
  const db = new Database(join(dir, 'platform.sqlite'));
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const departuresIn = (dir: string) =>
  inStore(dir, (db) =>
    db.prepare<[], { attempts: number; next_at: number }>('SELECT * FROM departures').all(),
  );

describe('a reply by email', () => {
  test('is DELIVERED once the relay has it, with its Message-ID as remote_id', async () => {
    const relay = await aRelay();
    const { platform, replies } = await aPlatform(relay);
    const { body } = await create(platform, anEmail());
    const reply = await settled(platform, body);
    expect(reply).toMatchObject({ status: 'DELIVERED', remote_id: relay.taken[0]?.mail.messageId });
    expect(Date.parse(reply.updated_at)).toBeGreaterThanOrEqual(Date.parse(reply.created_at ?? ''));
    expect(replies).toEqual([
      {
        ...{ channel: 'email', shop: SHOP.shopId, conversationId: body.conversation_id },
        ...{ messageId: reply.id, answers: body.remote_id },
      },
    ]);
  });

  test('is PENDING while it is retried, and is sent once the relay accepts it', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 450, 450);
    relay.answerNext('connect', 'drop');
    const { platform } = await aPlatform(relay);
    const { body } = await create(platform, anEmail());
    await waitFor('a second attempt', () => relay.connections > 1);
    expect(await settled(platform, body)).toMatchObject({ status: 'DELIVERED' });
    expect(relay.taken).toHaveLength(1);
    expect(relay.connections).toBe(4);
  });

  test('whose relay cannot be reached is tried again on the schedule', async () => {
    const relay = await aRelay();
    relay.answerNext('connect', 'drop');
    const dir = newFolder();
    const { platform } = await aPlatform(relay, LATER, { dir });
    await create(platform, anEmail());
    const nextAt = () => departuresIn(dir)[0]?.next_at ?? 0;
    await waitFor('the next attempt to be an hour away', () => nextAt() > Date.now() + 3_000_000);
    expect(departuresIn(dir)).toMatchObject([{ attempts: 1 }]);
    expect(relay.connections).toBe(1);
  });

  test.each([30, 31, 32])(
    'whose next attempt is due while the due ones are looked for is sent (%d ms)',
    async (delayMs) => {
      const relay = await aRelay();
      relay.answerNext('rcpt', 450);
      // Each look at the clock takes a millisecond, so every distance between two looks occurs.
      let at = Date.now();
      const { platform } = await aPlatform(
        relay,
        { delaysMs: [delayMs], giveUpAfterMs: 60_000 },
        { clock: () => (at += 1) },
      );
      const { body } = await create(platform, anEmail());
      expect(await settled(platform, body)).toMatchObject({ status: 'DELIVERED' });
    },
  );

  test('that is refused permanently is FAILED at once, and the next one is sent', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 550);
    const { platform } = await aPlatform(relay);
    const { body } = await create(platform, anEmail());
    expect(await settled(platform, body)).toMatchObject({ status: 'FAILED' });
    // A person has to contact the customer.
    expect(await ticketOf(platform, body)).toMatchObject({
      status: 'WaitingUser',
      last_message_content: 'You said: Where is my order?',
    });
    expect(relay.connections).toBe(1);
    const next = await create(platform, anEmail({ contact: { email: 'bob@example.com' } }));
    expect(await settled(platform, next.body)).toMatchObject({ status: 'DELIVERED' });
  });

  test('is given up when its time is over', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', ...Array.from({ length: 100_000 }, () => 450));
    let aheadMs = 0;
    const clock = () => Date.now() + aheadMs;
    const schedule = { delaysMs: [20], giveUpAfterMs: 3_600_000 };
    const { platform } = await aPlatform(relay, schedule, { clock });
    const { body } = await create(platform, anEmail());
    await waitFor('a second attempt', () => relay.connections > 1);
    expect(await replyTo(platform, body)).toMatchObject({ status: 'PENDING' });
    aheadMs = 7_200_000;
    expect(await settled(platform, body)).toMatchObject({ status: 'FAILED' });
  });

  test('that waits does not delay another', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 450);
    const { platform } = await aPlatform(relay, LATER);
    const { body } = await create(platform, anEmail());
    await waitFor('the refusal', () => relay.connections > 0);
    const email = { in_reply_to: '', subject: 'more' };
    const second = await create(
      platform,
      anEmail({ conversation: { id: body.conversation_id }, message: { content: 'two', email } }),
    );
    const others = await Promise.all(
      ['bob', 'carol', 'dave'].map((name) =>
        create(platform, anEmail({ contact: { email: `${name}@example.com` } })),
      ),
    );
    await waitFor('the others', () => relay.taken.length === 4);
    for (const other of others) {
      expect(await settled(platform, other.body)).toMatchObject({ status: 'DELIVERED' });
    }
    const replies = (await messagesOf(platform, second.body.conversation_id)).filter(
      ({ role }) => role === 'agent',
    );
    // Newest first.
    expect(replies.map(({ status }) => status)).toEqual(['DELIVERED', 'PENDING']);
  });

  test('to a contact without an address is FAILED, in the conversation that was named', async () => {
    const relay = await aRelay();
    const { platform } = await aPlatform(relay);
    const { body } = await create(platform, anEmail());
    await settled(platform, body);
    const phone = '+14155552671';
    const text = { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' };
    await create(platform, { contact: { phone }, conversation: text, message: { content: 'x' } });
    const { body: appended } = await create(platform, {
      contact: { phone },
      conversation: { direction: 'inbound', id: body.conversation_id },
      message: { content: 'and then?' },
    });
    expect(appended.conversation_id).toBe(body.conversation_id);
    await waitFor('the failure', async () =>
      (await messagesOf(platform, body.conversation_id)).some(({ status }) => status === 'FAILED'),
    );
    expect(relay.taken).toHaveLength(1);
    expect(await ticketOf(platform, body)).toMatchObject({ status: 'WaitingUser' });
  });

  test('leaves no connection open when the platform stops during an attempt', async () => {
    let closed = 0;
    const relay = await startMailRelay({
      onData: () => undefined,
      onClose: () => {
        closed += 1;
      },
    });
    ends(() => relay.close());
    const dir = newFolder();
    const { platform } = await aPlatform(relay, SOON, { dir });
    await create(platform, anEmail());
    await waitFor('the connection', () => relay.connections > 0);
    expect(closed).toBe(0);
    await platform.stop();
    await waitFor('the end of all connections', () => closed === relay.connections);
    expect(departuresIn(dir)).toMatchObject([{ attempts: 1 }]);
  });
});

describe('after a restart', () => {
  test('a waiting reply is sent once, by its own schedule', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 450);
    const dir = newFolder();
    const first = await aPlatform(relay, LATER, { dir });
    const { body } = await create(first.platform, anEmail());
    await waitFor('the refusal', () => departuresIn(dir)[0]?.attempts === 1);
    await waitFor('its note', () => (departuresIn(dir)[0]?.next_at ?? 0) > Date.now() + 3_000_000);
    await first.platform.stop();

    // Nothing is due yet.
    const second = await aPlatform(relay, SOON, { dir });
    const other = await create(second.platform, anEmail({ contact: { email: 'bob@example.com' } }));
    await settled(second.platform, other.body);
    expect(await replyTo(second.platform, body)).toMatchObject({ status: 'PENDING' });
    await second.platform.stop();

    inStore(dir, (db) => db.exec('UPDATE departures SET next_at = 1'));
    const third = await aPlatform(relay, SOON, { dir });
    const reply = await settled(third.platform, body);
    expect(reply).toMatchObject({ status: 'DELIVERED' });
    const ids = relay.taken.map(({ mail }) => mail.messageId);
    expect(ids.filter((id) => id === reply.remote_id)).toHaveLength(1);
    expect(departuresIn(dir)).toEqual([]);
  });

  test('a reply that the relay had accepted is sent again with the same Message-ID', async () => {
    const relay = await aRelay();
    const dir = newFolder();
    const first = await aPlatform(relay, SOON, { dir });
    const { body } = await create(first.platform, anEmail());
    await settled(first.platform, body);
    await first.platform.stop();
    // As after a crash between the two.
    inStore(dir, (db) => db.exec("UPDATE messages SET status = 'PENDING' WHERE role = 'agent'"));

    const second = await aPlatform(relay, SOON, { dir });
    expect(await settled(second.platform, body)).toMatchObject({ status: 'DELIVERED' });
    const [one, two] = relay.taken.map(({ mail }) => mail);
    expect(relay.taken).toHaveLength(2);
    expect(two?.messageId).toBe(one?.messageId);
    expect(two?.date).toEqual(one?.date);
  });

  test('a reply that a crash left without its row is sent', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 450);
    const dir = newFolder();
    const first = await aPlatform(relay, LATER, { dir });
    const { body } = await create(first.platform, anEmail());
    await waitFor('the refusal', () => departuresIn(dir)[0]?.attempts === 1);
    await first.platform.stop();
    inStore(dir, (db) => db.exec('DELETE FROM departures'));
    const second = await aPlatform(relay, SOON, { dir });
    expect(await settled(second.platform, body)).toMatchObject({ status: 'DELIVERED' });
  });
});

describe('a reply is not sent', () => {
  /** A reply that the agent would not have written, in the store of a platform that has stopped. */
  async function afterRewriting(sql: string) {
    const relay = await aRelay();
    relay.answerNext('rcpt', 450);
    const dir = newFolder();
    const first = await aPlatform(relay, LATER, { dir });
    const { body } = await create(first.platform, anEmail());
    await waitFor('the refusal', () => departuresIn(dir)[0]?.attempts === 1);
    await first.platform.stop();
    inStore(dir, (db) => db.exec(`UPDATE departures SET next_at = 1; ${sql}`));
    const second = await aPlatform(relay, SOON, { dir });
    const reply = await settled(second.platform, body);
    return { reply, relay };
  }

  test.each([
    ['a machine', "'no-reply@shop.example'"],
    ['the mailer daemon', "'MAILER-DAEMON@mx.example'"],
    ["the shop's own address", "'support@acme.example'"],
    ['nobody', 'NULL'],
  ])('to %s', async (_title, address) => {
    const { reply, relay } = await afterRewriting(
      `UPDATE messages SET sender = ${address}; UPDATE contacts SET email = ${address}`,
    );
    expect(reply).toMatchObject({ status: 'FAILED' });
    expect(relay.taken).toEqual([]);
  });
});

describe('with nothing configured', () => {
  const sms = (content: string, id?: string | null) => ({
    contact: { phone: '+14155552671' },
    conversation: {
      ...{ direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
      ...(id && { id }),
    },
    message: { content },
  });

  test('texts are lines of the log, in order', async () => {
    const dir = newFolder();
    const platform = await startPlatform({ dir, agent: { kind: 'custom', agent: echo } });
    const { body } = await create(platform, sms('one'));
    await settled(platform, body);
    for (const text of ['two', 'three']) await create(platform, sms(text, body.conversation_id));
    const lines = await waitFor('three lines', () => {
      const log = readFileSync(join(dir, 'outbox', 'sms.log'), 'utf8')
        .trim()
        .split('\n');
      return log.length === 3 ? log.map((line) => JSON.parse(line) as object) : undefined;
    });
    expect(lines).toMatchObject(
      ['one', 'two', 'three'].map((text) => ({ to: '+14155552671', text: `You said: ${text}` })),
    );
  });

  test('a folder that cannot be written is tried again', async () => {
    const dir = newFolder();
    const platform = await startPlatform({
      dir,
      agent: { kind: 'custom', agent: echo },
      replies: { schedule: SOON },
    });
    const { renameSync, mkdirSync } = await import('node:fs');
    renameSync(join(dir, 'outbox'), join(dir, 'away'));
    const { body } = await create(platform, anEmail());
    await waitFor('an attempt', () => (departuresIn(dir)[0]?.attempts ?? 0) >= 1);
    mkdirSync(join(dir, 'outbox'));
    expect(await settled(platform, body)).toMatchObject({ status: 'DELIVERED' });
  });
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const delayAfter = (attempts: number, ageMs = 0) => {
  const nowMs = 1_800_000_000_000;
  const at = nextAttemptAt(RETRY_SCHEDULE, { queuedAtMs: nowMs - ageMs, attempts }, nowMs);
  return at === undefined ? undefined : at - nowMs;
};

test.each([
  [1, MINUTE],
  [2, 5 * MINUTE],
  [3, 15 * MINUTE],
  [4, 30 * MINUTE],
  [5, HOUR],
  [6, 2 * HOUR],
  [7, 4 * HOUR],
  [8, 4 * HOUR],
  [100, 4 * HOUR],
])('after attempt %d the next one is in %d ms', (attempts, expected) => {
  expect(delayAfter(attempts)).toBe(expected);
});

test('a reply is given up when the next attempt would be more than two days after it', () => {
  expect(delayAfter(10, 43 * HOUR)).toBe(4 * HOUR);
  expect(delayAfter(10, 45 * HOUR)).toBeUndefined();
  expect(delayAfter(1, 48 * HOUR)).toBeUndefined();
});

test('an unreachable relay is tried about twenty times in two days', () => {
  let ageMs = 0;
  let attempts = 1;
  for (let delay = delayAfter(1); delay !== undefined; delay = delayAfter(attempts, ageMs)) {
    ageMs += delay;
    attempts += 1;
  }
  expect(attempts).toBeGreaterThan(15);
  expect(attempts).toBeLessThan(25);
});
