import { expect, test } from '@jest/globals';
import type { MediaRecord, Message, Page } from '../../../src/platform-api/resources.ts';
import type { CreateMessageRequest } from '../../../src/platform-api/schemas.ts';
import { type Answer, anEmail, call, create, newFolder } from '../harness.ts';
import { PlatformProcess } from './platform-process.ts';

const MESSAGES = 1000;
const AT_ONCE = 16;
const KILLED_AFTER = [150, 500, 850];
const A_MINUTE_MS = 60_000;

/** Every fifth continues the one before it; each sender has five. */
function requestOf(n: number): CreateMessageRequest {
  const isFollowUp = n % 5 === 4;
  return anEmail({
    contact: { email: `person-${Math.floor(n / 5)}@example.com` },
    message: {
      content: `message ${n}`,
      remote_id: `<${n}@example.com>`,
      ...(isFollowUp && { email: { in_reply_to: `<${n - 1}@example.com>` } }),
    },
  });
}

/** What a client keeps: the answer to each message that was answered. */
type Ledger = Map<number, Message>;

/**
 * Sends what has no answer yet, in order, several at once, until all of it has or the platform is
 * killed after `killAfter` answers in all.
 */
async function send(platform: PlatformProcess, ledger: Ledger, killAfter: number): Promise<void> {
  const open = Array.from({ length: MESSAGES }, (_, n) => n).filter((n) => !ledger.has(n));
  let killed: Promise<void> | undefined;
  const one = async (n: number) => {
    const answer = await create(platform, requestOf(n)).catch(() => undefined);
    if (answer === undefined && killed === undefined) throw new Error(`no answer to ${n}`);
    if (answer === undefined) return;
    expect([200, 201]).toContain(answer.status);
    ledger.set(n, answer.body);
    if (ledger.size === killAfter) killed = platform.kill();
  };
  const sender = async () => {
    for (let n = open.shift(); n !== undefined && !killed; n = open.shift()) await one(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  await killed;
}

async function allMessages(platform: PlatformProcess): Promise<Message[]> {
  const found: Message[] = [];
  let link: string | null | undefined = '/messages/?limit=200';
  while (link) {
    const page: Answer<Page<Message>> = await call(platform, 'GET', link);
    found.push(...page.body.results);
    link = page.body.next;
  }
  return found;
}

/** Checks that every answered message is stored, exactly once. */
async function verify(platform: PlatformProcess, ledger: Ledger): Promise<void> {
  const stored = await allMessages(platform);
  const byId = new Map(stored.map((message) => [message.id, message]));
  expect(new Set(stored.map((message) => message.remote_id)).size).toBe(stored.length);
  for (const message of ledger.values()) expect(byId.get(message.id)).toEqual(message);
  for (const [n, message] of ledger) {
    // Each tenth, for the time that it takes.
    if (n % 10 !== 0) continue;
    const again = await create(platform, requestOf(n));
    expect([again.status, again.body]).toEqual([200, message]);
  }
}

test(
  'killed in the middle of 1,000 creates, what was answered stays and what was not can be sent again',
  async () => {
    const dir = newFolder();
    const ledger: Ledger = new Map();
    for (const killAfter of [...KILLED_AFTER, Infinity]) {
      const platform = await PlatformProcess.start(dir);
      await verify(platform, ledger);
      await send(platform, ledger, killAfter);
      if (killAfter !== Infinity) continue;
      await verify(platform, ledger);
      const stored = await allMessages(platform);
      expect(stored).toHaveLength(MESSAGES);
      expect(new Set(stored.map(({ remote_id }) => remote_id)).size).toBe(MESSAGES);
      // The ticket, its number and the conversation came and went with their message.
      const conversations = new Set(stored.map((message) => message.conversation_id));
      const { body } = await call<{ count: number }>(platform, 'GET', '/tickets/count/');
      expect(body.count).toBe(conversations.size);
      const numbers = await ticketNumbers(platform);
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => n + 1));
      expect(numbers).toHaveLength(conversations.size);
    }
  },
  10 * A_MINUTE_MS,
);

async function ticketNumbers(platform: PlatformProcess): Promise<number[]> {
  const numbers: number[] = [];
  let link: string | null | undefined = '/tickets/?limit=200';
  while (link) {
    const page: Answer<Page<{ number: number }>> = await call(platform, 'GET', link);
    numbers.unshift(...page.body.results.map(({ number }) => number).reverse());
    link = page.body.next;
  }
  return numbers;
}

test(
  'killed in the middle of uploads, every file that was answered is there, and none in part',
  async () => {
    const dir = newFolder();
    const first = await PlatformProcess.start(dir);
    const bytes = (n: number) => Buffer.alloc(200_000 + n, `file ${n} `);
    const records = new Map<number, MediaRecord>();
    let killed: Promise<void> | undefined;
    const upload = async (n: number) => {
      const body = new FormData();
      body.set('file', new Blob([bytes(n)]), `${n}.bin`);
      const answer = await call<MediaRecord>(first, 'POST', '/media/', { body }).catch(
        () => undefined,
      );
      if (answer === undefined) return;
      records.set(n, answer.body);
      if (records.size === 20) killed = first.kill();
    };
    let next = 0;
    const uploader = async () => {
      while (!killed && next < 200) await upload(next++);
    };
    await Promise.all(Array.from({ length: 8 }, uploader));
    await killed;

    const second = await PlatformProcess.start(dir);
    expect(records.size).toBeGreaterThanOrEqual(20);
    for (const [n, { url }] of records) {
      const { pathname, search } = new URL(url);
      const file = await fetch(`${second.url}${pathname}${search}`);
      expect(Buffer.from(await file.arrayBuffer()).equals(bytes(n))).toBe(true);
    }
    const attachments = [...records.values()].map(({ id }) => id);
    const message = await create(second, anEmail({ message: { attachments } }));
    expect(message.status).toBe(201);
  },
  5 * A_MINUTE_MS,
);
