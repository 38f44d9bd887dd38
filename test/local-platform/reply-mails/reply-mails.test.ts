import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import express from 'express';
import { type ParsedMail, simpleParser } from 'mailparser';
import { readPerson } from '../../../src/cli/erase-person.ts';
import type { Agent } from '../../../src/local-platform/agent/agent.ts';
import { PlatformEraser } from '../../../src/local-platform/erase.ts';
import { contentsOf } from '../../../src/local-platform/export.ts';
import type { LocalPlatformOptions } from '../../../src/local-platform/local-platform.ts';
import { TEXTS } from '../../../src/local-platform/reply-mails/texts.ts';
import {
  MAILS_AN_HOUR,
  UNSERVED_DELAY_MS,
} from '../../../src/local-platform/reply-mails/reply-mailer.ts';
import type { Contact, Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  messagesOf,
  newFolder,
  OTHER,
  SHOP,
  startPlatform,
} from '../harness.ts';

const WAIT_MS = 120_000;
const ANN = 'ann.lee@example.com';
const WITH_ADDRESS = { ...SHOP, emailAddresses: ['support@acme.example'] };
const OTHER_WITH_ADDRESS = { ...OTHER, emailAddresses: ['hello@other.example'] };
const OWN_WORDS = 'own-words-of-the-visitor';

const echo: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};

/** A platform with a page on a port of its own, as the gateway serves it, and a clock of the test. */
async function aScene(more: Partial<LocalPlatformOptions> = {}) {
  const dir = more.dir ?? newFolder();
  const clock = { at: Date.parse('2026-04-01T08:00:00Z') };
  let publicUrl = '';
  const start = () =>
    startPlatform({
      ...{ dir, clock: () => clock.at, publicUrl: () => publicUrl, shops: [WITH_ADDRESS] },
      ...more,
    });
  const running = { platform: await start() };
  const app = express();
  app.use((request, response, next) =>
    running.platform.leftAddresses.page(request, response, next),
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  ends(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  // A listening TCP server has an AddressInfo.
  publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const visitor = randomUUID().replaceAll('-', '');
  const mails = async (): Promise<ParsedMail[]> => {
    const outbox = join(dir, 'outbox');
    const names = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
    const all = names.map((name) => simpleParser(readFileSync(join(outbox, name), 'utf8')));
    return (await Promise.all(all)).filter(({ headers }) => headers.has('list'));
  };
  return {
    ...{ dir, clock, running, visitor, mails },
    restart: async () => {
      await running.platform.stop();
      running.platform = await start();
    },
    ask: (email = ANN, language = 'en') =>
      running.platform.leftAddresses.ask({
        ...{ shopId: SHOP.shopId, remotePrefix: `chat:${visitor}:`, email, language },
        network: randomUUID(),
      }),
    write: async (content = OWN_WORDS, by = visitor, conversation?: string | null) =>
      (
        await create(running.platform, {
          contact: { name: OWN_WORDS },
          conversation: {
            ...{ direction: 'inbound', type: 'web_chat' },
            ...(conversation && { id: conversation }),
          },
          message: { content, remote_id: `chat:${by}:${randomUUID()}` },
        })
      ).body,
  };
}
type Scene = Awaited<ReturnType<typeof aScene>>;

async function reply({ running }: Scene, question: Message, text: string, files: string[] = []) {
  const { desk } = running.platform;
  const { id, version } = desk.ticket(SHOP.shopId, String(question.ticket_id));
  const seen = { shopId: SHOP.shopId, id, version, who: 'ann' };
  await desk.reply(seen, { text, format: 'TEXT', files });
  return waitFor('the reply in the chat', async () => {
    const all = await messagesOf(running.platform, question.conversation_id);
    return all.find((each) => each.text === text && each.status === 'DELIVERED');
  });
}

const linkIn = (mail: ParsedMail | undefined): string =>
  /http:\S+\/chat\/email\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';

const press = (url: string, action: string) =>
  fetch(url, { method: 'POST', body: new URLSearchParams({ action }) });

/** Has the address confirmed, and forgets that mail. */
async function confirmed(scene: Scene): Promise<string> {
  expect(await scene.ask()).toBe('confirms');
  const [mail] = await waitFor('the confirmation mail', async () => {
    const all = await scene.mails();
    return all.length > 0 && all;
  });
  const link = linkIn(mail);
  expect((await press(link, 'confirm')).status).toBe(200);
  return link;
}

const repliesIn = (mails: readonly ParsedMail[]) =>
  mails.filter(({ subject = '' }) => !subject.includes('confirm'));

/** Lets the time pass, and wakes what sleeps in it: anything that is asked for does. */
async function pass(scene: Scene, ms: number): Promise<void> {
  scene.clock.at += ms;
  await scene.running.platform.leftAddresses.ask({
    ...{ shopId: SHOP.shopId, remotePrefix: `chat:${randomUUID()}:`, language: 'en' },
    network: randomUUID(),
    email: `${randomUUID()}@example.com`,
  });
}

const mailed = (scene: Scene, count: number) =>
  waitFor(`${count} mails`, async () => {
    const found = repliesIn(await scene.mails());
    return found.length >= count && found;
  });

/** What is to be mailed, from a second connection. */
function inStore<T>(dir: string, read: (db: Database.Database) => T): T {
  const db = new Database(join(dir, 'platform.sqlite'));
  try {
    return read(db);
  } finally {
    db.close();
  }
}
const notedIn = (dir: string) =>
  inStore(dir, (db) =>
    db
      .prepare<[], { message_id: string; due_at: number | null; mailed_at: number | null }>(
        'SELECT message_id, due_at, mailed_at FROM reply_mails ORDER BY sent_at',
      )
      .all(),
  );

describe('the confirmation mail', () => {
  test('is from the shop, has a link, and has nothing that the visitor wrote', async () => {
    const scene = await aScene();
    await scene.write();
    await scene.ask();
    const [mail] = await waitFor('the mail', async () => {
      const all = await scene.mails();
      return all.length > 0 && all;
    });
    expect(mail).toMatchObject({
      subject: 'Acme Shoes: confirm your email address',
      from: { value: [{ name: 'Acme Shoes', address: 'support@acme.example' }] },
      to: { value: [{ name: '', address: ANN }] },
    });
    expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail?.text).toContain('chat with Acme Shoes');
    expect(linkIn(mail)).not.toBe('');
    expect(JSON.stringify([...(mail?.headerLines ?? []), mail?.text])).not.toContain(OWN_WORDS);
  });

  test("is in the visitor's language, else in English, in all languages of the widget", async () => {
    const widget = readdirSync('src/widget/texts').map((file) => file.replace('.json', ''));
    expect(Object.keys(TEXTS).toSorted()).toEqual(widget.toSorted());
    for (const texts of Object.values(TEXTS)) {
      for (const key of ['confirmSubject', 'asked', 'subject', 'question', 'confirmed'] as const) {
        expect(texts[key]).toContain('#');
      }
    }
    const scene = await aScene();
    await scene.ask(ANN, 'de-AT');
    const mail = (text: string) =>
      waitFor(text, async () => (await scene.mails()).find((each) => each.text?.includes(text)));
    const german = await mail('Chat mit Acme Shoes');
    const page = await fetch(linkIn(german));
    expect(await page.text()).toMatch(/<html lang="de"[^]*Bestätigen/);
    await pass(scene, 0);
    expect(await mail('chat with Acme Shoes')).toBeDefined();
  });

  test('is tried again while the relay is down, also after a restart, and sent once', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    relay.answerNext('connect', 421, 421);
    const scene = await aScene({
      replies: {
        relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' },
        schedule: { delaysMs: [1000], giveUpAfterMs: 60_000 },
      },
    });
    await scene.ask();
    await waitFor('the first attempt', () => relay.connections === 1);
    await waitFor('the note of it', () =>
      inStore(scene.dir, (db) =>
        db.prepare('SELECT 1 FROM left_addresses WHERE attempts = 1').get(),
      ),
    );
    await scene.restart();
    scene.clock.at += 1001;
    await scene.restart();
    await waitFor('the second attempt', () => relay.connections === 2);
    scene.clock.at += 1001;
    await scene.restart();
    await waitFor('the mail', () => relay.taken.length === 1);
    expect(relay.taken[0]).toMatchObject({ to: [ANN], from: 'support@acme.example' });
    scene.clock.at += 10_000;
    await scene.restart();
    await scene.running.platform.stop();
    expect(relay.taken).toHaveLength(1);
  });

  test('to an address that was replaced and left again is sent, once', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    relay.answerNext('connect', 421, 421);
    const scene = await aScene({
      replies: {
        relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' },
        schedule: { delaysMs: [1000], giveUpAfterMs: 60_000 },
      },
    });
    const tried = (email: string) =>
      waitFor(`the attempt to ${email}`, () =>
        inStore(scene.dir, (db) =>
          db.prepare('SELECT 1 FROM left_addresses WHERE attempts = 1 AND email = ?').get(email),
        ),
      );
    await scene.ask();
    await tried(ANN);
    await scene.ask('bob@example.com');
    await tried('bob@example.com');
    scene.clock.at += 1001;
    await scene.ask();
    await waitFor('the mail', () => relay.taken.length === 1);
    expect(relay.taken[0]).toMatchObject({ to: [ANN] });
    for (const email of ['bob@example.com', ANN]) {
      scene.clock.at += 10_000;
      await scene.ask(email);
      await scene.restart();
    }
    await waitFor('the mail to Bob', () => relay.taken.length > 1);
    await scene.running.platform.stop();
    expect(relay.taken.map(({ to }) => to)).toEqual([[ANN], ['bob@example.com']]);
  });

  test('that the relay refuses is not tried again', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    relay.answerNext('rcpt', 550);
    const scene = await aScene({
      replies: {
        relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' },
        schedule: { delaysMs: [1000], giveUpAfterMs: 60_000 },
      },
    });
    await scene.ask();
    await waitFor('the end of it', () =>
      inStore(scene.dir, (db) =>
        db.prepare('SELECT 1 FROM left_addresses WHERE attempts = 1 AND next_at IS NULL').get(),
      ),
    );
    scene.clock.at += 2000;
    await scene.restart();
    await scene.running.platform.stop();
    expect(relay.connections).toBe(1);
  });
});

describe("the shop's address in these mails", () => {
  const asked = async (scene: Scene, email: string) => {
    const answer = await scene.ask(email);
    if (answer === undefined) return undefined;
    const mail = await waitFor('the mail', async () =>
      (await scene.mails()).find(({ to }) => JSON.stringify(to).includes(email)),
    );
    return mail.from?.value[0]?.address;
  };
  const writesTo = (scene: Scene, agentContact: string, from: string) =>
    create(
      scene.running.platform,
      anEmail({ contact: { email: from }, conversation: { agent_contact: agentContact } }),
    );

  test('is the configured one, whatever customers write to, and no visitor can leave it', async () => {
    const scene = await aScene();
    for (let nth = 0; nth < 5; nth++) {
      await writesTo(scene, 'other@acme.example', `c${nth}@example.com`);
    }
    expect(await asked(scene, ANN)).toBe('support@acme.example');
    await scene.ask('support+x@acme.example');
    await pass(scene, 0);
    await scene.running.platform.stop();
    expect(JSON.stringify(await scene.mails())).not.toContain('support+x');
  });

  test('shows an address without its tag until it is confirmed, and writes to the tagged one', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    const options = {
      host: '127.0.0.1',
      port: relay.port,
      implicitTls: false,
      tls: 'auto',
    } as const;
    const scene = await aScene({ replies: { relay: options } });
    expect(await scene.ask('ann+cheap-pills@example.com')).toBe('confirms');
    const { to, raw } = await waitFor('the mail', () => relay.taken[0]);
    expect(to).toEqual(['ann+cheap-pills@example.com']);
    expect(raw).toContain('To: ann@example.com');
    expect(raw).not.toContain('pills');
  });

  test('is not one that was taken out of the configuration', async () => {
    const scene = await aScene();
    scene.running.platform.serve([SHOP]);
    expect(await asked(scene, ANN)).toBeUndefined();
    scene.running.platform.serve([{ ...SHOP, emailAddresses: ['new@acme.example'] }]);
    expect(await asked(scene, ANN)).toBe('new@acme.example');
  });

  test('without a configured one, cannot be chosen by a stranger', async () => {
    const scene = await aScene({ shops: [SHOP] });
    for (let nth = 0; nth < 5; nth++) {
      await writesTo(scene, 'you-have-won@acme.example', 'stranger@example.com');
    }
    expect(await asked(scene, ANN)).toBeUndefined();
    for (let nth = 0; nth < 3; nth++) {
      await writesTo(scene, 'support@acme.example', `c${nth}@example.com`);
    }
    expect(await asked(scene, ANN)).toBe('support@acme.example');
  });
});

describe('the page of the link', () => {
  test('changes nothing when it is only opened, and is safe to have a secret in its URL', async () => {
    const scene = await aScene();
    const link = await confirmed(scene);
    const before = notedIn(scene.dir);
    const page = await fetch(link);
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': expect.stringMatching(/^default-src 'none';/),
    });
    const text = await page.text();
    // The policy lets the page's own style through.
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    const styleHash = createHash('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toContain(
      `style-src 'sha256-${styleHash}'`,
    );
    expect(text).not.toMatch(/<script|ann\.lee/);
    expect(text).toContain('Don’t email me');
    expect(notedIn(scene.dir)).toEqual(before);
  });

  test.each([
    ['no token', 'nonsense'],
    ['an id that nobody has', `${randomUUID()}.x`],
    ['a NUL', '%00'],
    ['a long text', 'a'.repeat(500)],
  ])('is not there for %s', async (_what, token) => {
    const scene = await aScene();
    const link = await confirmed(scene);
    const url = link.replace(/[^/]+$/, token);
    for (const response of [await fetch(url), await press(url, 'stop')]) {
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('does not work');
    }
  });

  test('takes no other body, and not one that is too large', async () => {
    const scene = await aScene();
    await scene.ask();
    const [mail] = await waitFor('the mail', async () => {
      const all = await scene.mails();
      return all.length > 0 && all;
    });
    const link = linkIn(mail);
    expect((await press(link, 'erase')).status).toBe(400);
    expect((await press(link, 'x'.repeat(5000))).status).toBe(400);
    const json = { 'content-type': 'application/json' };
    const post = (headers: Record<string, string>, body: string) =>
      fetch(link, { method: 'POST', headers, body });
    const boundary = { 'content-type': 'multipart/form-data; boundary=x' };
    const part = '--x\r\nContent-Disposition: form-data; name="action"\r\n\r\nconfirm\r\n';
    for (const refused of [
      await post(json, '{"action":"confirm"}'),
      await post({ 'content-type': 'multipart/form-data' }, `${part}--x--\r\n`),
      await post(boundary, part),
      await post(boundary, part.repeat(30)),
      await post(boundary, part.replace('confirm', 'erase')),
      await post(boundary, part.replace('name="action"', 'name="action"; filename="a"')),
    ]) {
      expect(refused.status).toBe(400);
    }
    expect(await (await fetch(link)).text()).toContain('Confirm');
  });

  test('answers a client that asks too often with 429', async () => {
    const scene = await aScene();
    const link = await confirmed(scene);
    const answers = await Promise.all(Array.from({ length: 80 }, () => fetch(link)));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(10);
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a reply in the chat', () => {
  test('that the visitor has not received is mailed after the wait, once, also across restarts', async () => {
    const scene = await aScene();
    const question = await scene.write();
    const link = await confirmed(scene);
    await reply(scene, question, 'Your shoes are here.');
    await pass(scene, WAIT_MS - 1);
    expect(repliesIn(await scene.mails())).toEqual([]);
    await scene.running.platform.stop();
    scene.clock.at += 1;
    await scene.restart();
    const [mail] = await mailed(scene, 1);
    expect(mail).toMatchObject({
      subject: 'Reply from Acme Shoes',
      from: { value: [{ name: 'Acme Shoes', address: 'support@acme.example' }] },
      to: { value: [{ name: '', address: ANN }] },
    });
    expect(mail?.text?.split('\n-- \n')[0]?.trim()).toBe('Your shoes are here.');
    expect(linkIn(mail)).toBe(link);
    expect(mail?.headers.has('auto-submitted')).toBe(false);
    expect(JSON.stringify([mail?.headerLines, mail?.text])).not.toContain(OWN_WORDS);
    await scene.restart();
    await pass(scene, 10 * WAIT_MS);
    await scene.restart();
    await scene.running.platform.stop();
    expect(repliesIn(await scene.mails())).toHaveLength(1);
  });

  test('of the agent is mailed too, and says that a program has written it', async () => {
    const scene = await aScene({ agent: { kind: 'custom', agent: echo } });
    await confirmed(scene);
    const question = await scene.write('**Where** are my shoes?');
    await waitFor('the note of the answer', () => notedIn(scene.dir).length === 1);
    await pass(scene, WAIT_MS);
    const [mail] = await mailed(scene, 1);
    expect(mail?.headers.get('auto-submitted')).toBe('auto-replied');
    expect(mail?.html).toContain('<a href="http');
    expect(question.id).toBeDefined();
  });

  test.each(['delivered', 'read'] as const)('that was %s in time is not mailed', async (state) => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    const { id } = await reply(scene, question, 'Here');
    const { fates } = scene.running.platform;
    await fates.reportReplies(SHOP.shopId, [id], state);
    await pass(scene, WAIT_MS);
    await waitFor('it to be forgotten', () => notedIn(scene.dir).length === 0);
    expect(repliesIn(await scene.mails())).toEqual([]);
  });

  test('from before the confirmation waits for it, and one from before the address is not mailed', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await reply(scene, question, 'Too early');
    await scene.ask('typo@example.com');
    await reply(scene, question, 'While they look for it');
    await pass(scene, 10 * WAIT_MS);
    expect(notedIn(scene.dir)).toMatchObject([{ due_at: null }]);
    // The visitor has corrected the address.
    await scene.ask();
    const mail = await waitFor('the mail', async () =>
      (await scene.mails()).find(({ to }) => JSON.stringify(to).includes(ANN)),
    );
    await press(linkIn(mail), 'confirm');
    const [sent, ...others] = await mailed(scene, 1);
    expect(sent?.text).toContain('While they look for it');
    expect(others).toEqual([]);
  });

  test('to another visitor in the same conversation is not mailed', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    const customer = randomUUID().replaceAll('-', '');
    // The visitor has logged in: what is said from now on is the customer's.
    await scene.write('It is me', customer, question.conversation_id);
    await reply(scene, question, 'For the customer only');
    expect(notedIn(scene.dir)).toEqual([]);
  });

  test('with a file is mailed with it', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    const { id } = await scene.running.platform.desk.upload(SHOP.shopId, {
      ...{ name: 'chart.txt', type: 'text/plain', content: Readable.from([Buffer.from('41 42')]) },
    });
    await reply(scene, question, 'See there', [id]);
    await pass(scene, WAIT_MS);
    const [mail] = await mailed(scene, 1);
    expect(mail?.attachments.map(({ filename, content }) => [filename, String(content)])).toEqual([
      ['chart.txt', '41 42'],
    ]);
  });

  test('is not mailed if ten have been in this hour; then the next one follows', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    for (let nth = 0; nth <= MAILS_AN_HOUR; nth++) await reply(scene, question, `Reply ${nth}.`);
    await pass(scene, WAIT_MS);
    await mailed(scene, MAILS_AN_HOUR);
    await waitFor('the last to wait', () =>
      notedIn(scene.dir).some(({ due_at: dueAt }) => dueAt !== null && dueAt > scene.clock.at),
    );
    expect(repliesIn(await scene.mails())).toHaveLength(MAILS_AN_HOUR);
    await pass(scene, 3_600_000);
    expect(await mailed(scene, MAILS_AN_HOUR + 1)).toHaveLength(MAILS_AN_HOUR + 1);
  });
});

test('of a shop that is not served nothing is mailed, until it is again', async () => {
  const scene = await aScene({ shops: [WITH_ADDRESS, OTHER_WITH_ADDRESS] });
  const { platform } = scene.running;
  const question = await scene.write();
  const link = await confirmed(scene);
  await reply(scene, question, 'While you were away');
  const askFor = (shop: typeof SHOP, email: string) =>
    platform.leftAddresses.ask({
      ...{ shopId: shop.shopId, remotePrefix: `chat:${randomUUID()}:`, network: '::1' },
      ...{ language: 'en', email },
    });
  const mailsTo = async (email: string) =>
    (await scene.mails()).filter(({ to }) => JSON.stringify(to).includes(email));
  const BOB = 'bob@example.com';
  await askFor(SHOP, BOB);
  await waitFor('the mail to Bob', async () => (await mailsTo(BOB))[0]);
  await waitFor('it to be settled', () =>
    inStore(scene.dir, (db) =>
      db.prepare('SELECT 1 FROM left_addresses WHERE email = ? AND next_at IS NULL').get(BOB),
    ),
  );

  platform.serve([OTHER_WITH_ADDRESS]);
  expect((await fetch(link)).status).toBe(404);
  expect((await press(link, 'stop')).status).toBe(404);
  for (const name of readdirSync(join(scene.dir, 'outbox'))) {
    rmSync(join(scene.dir, 'outbox', name));
  }
  // As if the mail to Bob had failed. What is asked for in the served shop is due after it.
  inStore(scene.dir, (db) =>
    db.prepare('UPDATE left_addresses SET next_at = 1 WHERE email = ?').run(BOB),
  );
  scene.clock.at += WAIT_MS;
  await askFor(OTHER, 'carol@example.com');
  await waitFor('the mail to Carol', async () => (await mailsTo('carol@example.com'))[0]);
  expect(await scene.mails()).toHaveLength(1);

  platform.serve([WITH_ADDRESS, OTHER_WITH_ADDRESS]);
  await pass(scene, UNSERVED_DELAY_MS);
  await mailed(scene, 1);
  await waitFor('the mail to Bob', async () => (await mailsTo(BOB))[0]);
  expect((await fetch(link)).status).toBe(200);
});

describe('the thread of the mails', () => {
  test("is one, takes the answer by email, and is not the visitor's contact's", async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    await reply(scene, question, 'One');
    await reply(scene, question, 'Two');
    await pass(scene, WAIT_MS);
    const mails = await mailed(scene, 2);
    const { platform } = scene.running;
    const answer = await create(
      platform,
      anEmail({
        contact: { email: ANN, name: 'Ann' },
        message: { email: { in_reply_to: mails[0]?.messageId ?? '' } },
      }),
    );
    const thread = await messagesOf(platform, answer.body.conversation_id);
    expect(thread.map(({ role }) => role)).toEqual(['customer', 'agent', 'agent']);
    // A person has written, so that a person gets the answer.
    const waiting = platform.desk.queue(SHOP.shopId, 10).map(({ id }) => id);
    expect(waiting).toContain(answer.body.ticket_id);
    const ofVisitor = await call<Contact>(
      platform,
      'GET',
      `/contacts/${String(question.contact_id)}/`,
    );
    expect(ofVisitor.body.email).toBeNull();
    expect(answer.body.contact_id).not.toBe(question.contact_id);
  });

  test('goes on after the customer has answered, and their question stays open', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    await reply(scene, question, 'One');
    await pass(scene, WAIT_MS);
    const [mail] = await mailed(scene, 1);
    const { platform } = scene.running;
    const answer = await create(
      platform,
      anEmail({
        contact: { email: ANN },
        message: { email: { in_reply_to: mail?.messageId ?? '', subject: 'Re: my own words' } },
      }),
    );
    await reply(scene, question, 'Two');
    await pass(scene, WAIT_MS);
    const mails = await mailed(scene, 2);
    expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('Reply from Acme Shoes'));
    const ticket = platform.desk.ticket(SHOP.shopId, String(answer.body.ticket_id));
    expect(ticket).toMatchObject({ status: 'WaitingUser', messages: expect.any(Array) });
    expect(ticket.messages).toHaveLength(3);
  });
});

const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' };

describe('"stop"', () => {
  test.each([
    ['the button', { action: 'stop' }, new URLSearchParams()],
    ["a mail program's request (RFC 8058)", ONE_CLICK, new URLSearchParams()],
    ["a mail program's multipart request", ONE_CLICK, new FormData()],
  ])('by %s ends the mails, and those that are on their way', async (_how, fields, body) => {
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const relay = await startMailRelay();
    ends(() => relay.close());
    const scene = await aScene({
      replies: {
        relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' },
        schedule: { delaysMs: [1000], giveUpAfterMs: 60_000 },
      },
    });
    const question = await scene.write();
    await scene.ask();
    const link = linkIn((await waitFor('the mail', () => relay.taken[0])).mail);
    await press(link, 'confirm');
    relay.answerNext('rcpt', 450);
    await reply(scene, question, 'One');
    await pass(scene, WAIT_MS);
    await waitFor('an attempt that failed', () =>
      inStore(scene.dir, (db) =>
        db.prepare('SELECT 1 FROM departures WHERE attempts > 0 AND begun_at IS NULL').get(),
      ),
    );
    await reply(scene, question, 'Two');
    const stopped = await fetch(link, { method: 'POST', body });
    expect(await stopped.text()).toContain('won’t receive these emails');
    await pass(scene, WAIT_MS);
    await scene.restart();
    await waitFor(
      'the first to fail',
      () => scene.running.platform.outbox.countFailed(SHOP.shopId) === 1,
    );
    expect(scene.running.platform.outbox.failed(SHOP.shopId, 1)).toMatchObject([
      { fate: { code: 'stopped' } },
    ]);
    await scene.running.platform.stop();
    expect(relay.taken.filter(({ to }) => to.includes(ANN))).toHaveLength(1);
    expect(notedIn(scene.dir).filter(({ mailed_at: at }) => at === null)).toEqual([]);
  });
});

describe('a person who is erased', () => {
  const exported = async (dir: string, address: string, visitors: readonly string[] = []) => {
    const eraser = PlatformEraser.open(dir);
    if (eraser === undefined) throw new Error('no database');
    const { is, isNamedIn } = readPerson(address, []);
    const person = { is, isNamedIn, messageIds: new Set<string>(), visitorIds: new Set(visitors) };
    const plan = await eraser.find(person, []);
    const lists: Record<string, unknown[]> = {};
    for (const content of contentsOf(eraser.db, dir, plan)) {
      if (!('records' in content)) continue;
      const list: unknown[] = [];
      for await (const record of content.records) list.push(record);
      lists[content.name] = list;
    }
    return { plan, lists, erase: () => eraser.erase(plan, person), close: () => eraser.close() };
  };

  test.each(['address', 'visitor'])('by their %s has left no address and no mail', async (by) => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    await reply(scene, question, 'Private words');
    await pass(scene, WAIT_MS);
    await mailed(scene, 1);
    await reply(scene, question, 'Not mailed yet');
    const found =
      by === 'address'
        ? await exported(scene.dir, ANN)
        : await exported(scene.dir, 'nobody@example.com', [scene.visitor]);
    expect(found.lists['left-addresses']).toMatchObject([
      { email: ANN, language: 'en', mails: [{ mailed_at: expect.any(String) }, {}] },
    ]);
    expect(found.plan.emails).toHaveLength(2);
    await found.erase();
    found.close();
    const left = inStore(scene.dir, (db) => ({
      addresses: db.prepare('SELECT 1 FROM left_addresses WHERE email = ?').all(ANN),
      contacts: db.prepare('SELECT 1 FROM contacts WHERE email = ?').all(ANN),
      participants: db.prepare('SELECT 1 FROM participants WHERE email = ?').all(ANN),
      noted: db.prepare('SELECT 1 FROM reply_mails').all(),
      mails: db
        .prepare(
          `SELECT 1 FROM messages m JOIN conversations c ON c.id = m.conversation_id
           WHERE c.type = 'email' AND m.role = 'agent'`,
        )
        .all(),
    }));
    expect(left).toEqual({ addresses: [], contacts: [], participants: [], noted: [], mails: [] });
    const toAnn = (await scene.mails()).filter(({ to }) => JSON.stringify(to).includes(ANN));
    expect(toAnn).toEqual([]);
  });

  test('who had left the address of a customer leaves the customer as they are', async () => {
    const scene = await aScene();
    await create(scene.running.platform, anEmail({ contact: { email: ANN } }));
    const question = await scene.write();
    await confirmed(scene);
    await reply(scene, question, 'Private words');
    await pass(scene, WAIT_MS);
    await mailed(scene, 1);
    const found = await exported(scene.dir, 'nobody@example.com', [scene.visitor]);
    await found.erase();
    found.close();
    const contacts = inStore(scene.dir, (db) =>
      db.prepare('SELECT 1 FROM contacts WHERE email = ?').all(ANN),
    );
    expect(contacts).toHaveLength(1);
  });

  test('leaves the contact and the thread of another visitor with the same address', async () => {
    const scene = await aScene();
    const question = await scene.write();
    await confirmed(scene);
    await reply(scene, question, 'Private words');
    await pass(scene, WAIT_MS);
    await mailed(scene, 1);
    const other = randomUUID().replaceAll('-', '');
    const theirs = await scene.write('Hello', other);
    await scene.running.platform.leftAddresses.ask({
      ...{ shopId: SHOP.shopId, remotePrefix: `chat:${other}:`, email: ANN },
      ...{ language: 'en', network: '::1' },
    });
    const toConfirm = await waitFor('the second mail to confirm', async () => {
      const mails = (await scene.mails()).filter(
        ({ to, subject = '' }) => JSON.stringify(to).includes(ANN) && subject.includes('confirm'),
      );
      return mails.length > 1 && mails;
    });
    for (const mail of toConfirm) await press(linkIn(mail), 'confirm');
    await reply(scene, theirs, 'Words for the other');
    await pass(scene, WAIT_MS);
    await mailed(scene, 2);
    const found = await exported(scene.dir, 'nobody@example.com', [scene.visitor]);
    await found.erase();
    found.close();
    const threads = inStore(scene.dir, (db) =>
      db
        .prepare(
          `SELECT c.email FROM left_addresses a JOIN conversations v ON v.id = a.thread_id
           JOIN contacts c ON c.id = v.contact_id`,
        )
        .all(),
    );
    expect(threads).toEqual([{ email: ANN }]);
  });
});
