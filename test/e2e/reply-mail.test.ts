import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { SignJWT } from 'jose';
import { type ParsedMail, simpleParser } from 'mailparser';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { ACME, CHAT_KEY, INBOX, PUBLIC_URL } from '../support/gateway-config.ts';
import { aGateway, ANN, BOB, CANARY, command, outbox, send } from '../support/person-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const SECRET = 'a secret of the shop that its own server keeps';

type Gateway = Awaited<ReturnType<typeof aGateway>>;

const mailOf = (from: string, id: string, more: readonly string[] = []) =>
  [
    ...[`From: ${from}`, `To: ${INBOX}`, `Message-ID: <${id}@example.com>`, ...more],
    ...['Date: Tue, 21 Apr 2026 09:30:00 +0000', 'MIME-Version: 1.0'],
    ...['Content-Type: text/plain; charset=utf-8', '', 'How can I return my shoes?', ''],
  ].join('\r\n');

async function mailsTo(dataDir: string, address: string): Promise<ParsedMail[]> {
  const names = outbox(dataDir).filter((name) => name.endsWith('.eml'));
  const read = (name: string) => readFileSync(join(dataDir, 'platform', 'outbox', name), 'utf8');
  const all = await Promise.all(names.map((name) => simpleParser(read(name))));
  return all.filter(({ to }) => JSON.stringify(to).includes(address));
}

const repliesTo = async (dataDir: string, address: string) =>
  (await mailsTo(dataDir, address)).filter(({ subject }) => subject === `Reply from ${ACME.name}`);

const inPlatform = <T>(dataDir: string, work: (db: Database.Database) => T): T => {
  const db = new Database(join(dataDir, 'platform', 'platform.sqlite'));
  try {
    return work(db);
  } finally {
    db.close();
  }
};

const noted = (dataDir: string) =>
  inPlatform(dataDir, (db) =>
    db
      .prepare<[], { message_id: string; mail_id: string | null }>('SELECT * FROM reply_mails')
      .all(),
  );

/** Two minutes have passed, and the gateway has been started again. */
async function waited({ dataDir, restart, running }: Gateway): Promise<void> {
  await running.gateway.stop();
  inPlatform(dataDir, (db) =>
    db.exec('UPDATE reply_mails SET due_at = 1 WHERE due_at IS NOT NULL'),
  );
  await restart();
}

const connected = async ({ running }: Gateway, more: Record<string, unknown> = {}) => {
  const url = running.gateway.httpUrl;
  const visitor = await ChatClient.connect({
    url,
    auth: { key: CHAT_KEY, ...more },
    confirms: true,
  });
  ends(() => visitor.close());
  return visitor;
};

/** A gateway whose shop has never had an email, and a visitor who has left their address. */
async function aVisitor() {
  const gateway = await aGateway({ chat: { identitySecrets: [SECRET] } });
  const { dataDir, running } = gateway;
  const visitor = await connected(gateway);
  await visitor.send('How can I return my shoes?');
  await waitFor('the answer', () => visitor.messages.some(({ from }) => from === 'agent'));
  const asked = { name: CANARY, email: ANN, notify: { language: 'en-GB' } };
  expect(await visitor.profile(asked)).toEqual({ ok: true, confirms: true });
  const [mail] = await waitFor('the confirmation mail', async () => {
    const mails = await mailsTo(dataDir, ANN);
    return mails.length > 0 && mails;
  });
  const link = /https:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  expect(link).toMatch(`${PUBLIC_URL}/chat/email/`);
  const here = () => link.replace(PUBLIC_URL, running.gateway.httpUrl);
  const press = (action: string) =>
    fetch(here(), { method: 'POST', body: new URLSearchParams({ action }) });
  return { gateway, visitor, mail, here, press };
}

test('a visitor who leaves gets the replies at the address that they confirmed, once', async () => {
  const { gateway, visitor, mail, here, press } = await aVisitor();
  const { dataDir, running } = gateway;
  const raw = JSON.stringify([mail?.headerLines, mail?.text, mail?.html]);
  expect(raw).not.toContain(CANARY);
  expect(raw).not.toContain('shoes');
  expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
  // Programs that scan mail open links.
  expect((await fetch(here())).status).toBe(200);
  await visitor.send('And which sizes do you have?');
  visitor.close();
  await waitFor('the answer to be noted', () => noted(dataDir).length === 1);
  await waited(gateway);
  expect(await repliesTo(dataDir, ANN)).toEqual([]);

  expect(await (await press('confirm')).text()).toContain('Thank you');
  await waited(gateway);
  const [first] = await waitFor('the mail', async () => {
    const mails = await repliesTo(dataDir, ANN);
    return mails.length > 0 && mails;
  });
  const { text = '', headerLines } = first ?? {};
  expect(JSON.stringify([headerLines, text])).not.toContain(CANARY);
  expect(first?.headers.get('list')).toMatchObject({ unsubscribe: { url: expect.any(String) } });
  await waited(gateway);
  expect(await repliesTo(dataDir, ANN)).toHaveLength(1);

  // Their answer by email is of the same conversation.
  const threading = [`In-Reply-To: ${first?.messageId ?? ''}`, 'Subject: Re: Reply'];
  await send(running.gateway, ANN, mailOf(ANN, 'ann', threading));
  const joined = () =>
    inPlatform(dataDir, (db) =>
      db
        .prepare<[], { role: string; conversation_id: string }>(
          `SELECT role, conversation_id FROM messages WHERE conversation_id =
             (SELECT thread_id FROM left_addresses) ORDER BY seq`,
        )
        .all(),
    );
  await waitFor('the thread to have three', () => joined().length === 3, 50);
  expect(joined().map(({ role }) => role)).toEqual(['agent', 'customer', 'agent']);

  expect(await (await press('stop')).text()).toContain('won’t receive these emails');
  const back = await connected(gateway, { token: visitor.session.token });
  await back.send('How long does shipping take?');
  back.close();
  await waited(gateway);
  expect(noted(dataDir).filter(({ mail_id: id }) => id === null)).toEqual([]);
  // Nobody is told that the address has stopped the mails.
  const stranger = await connected(gateway);
  const asked = { email: ANN, notify: { language: 'en' } };
  expect(await stranger.profile(asked)).toEqual({ ok: true, confirms: true });
  expect(await mailsTo(dataDir, ANN)).toHaveLength(3);

  const erased = await command(dataDir, 'erase', '--address', ANN, '--yes', '--json');
  expect(JSON.parse(erased.out)).toMatchObject({
    found: { platform: { 'addresses left in the chat': 1 } },
  });
});

test('who logs in is another person than the one who left an address before', async () => {
  const { gateway, visitor, press } = await aVisitor();
  const { dataDir } = gateway;
  await press('confirm');
  visitor.close();
  const identity = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('a new customer')
    .setAudience(CHAT_KEY)
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(SECRET));
  const { token } = visitor.session;
  for (const auth of [{ token, identity }, { identity }]) {
    const customer = await connected(gateway, auth);
    expect(customer.session.verified).toBe(true);
    await customer.send('And which sizes do you have?');
    customer.close();
  }
  await waitFor('the answers', () =>
    inPlatform(dataDir, (db) => {
      const sql = `SELECT count(*) AS n FROM messages WHERE role = 'agent' AND status = 'DELIVERED'`;
      return (db.prepare<[], { n: number }>(sql).get()?.n ?? 0) >= 3;
    }),
  );
  await waited(gateway);
  expect(noted(dataDir)).toEqual([]);
  expect(await repliesTo(dataDir, ANN)).toEqual([]);
});

test('a visitor who is there gets no mail', async () => {
  const { gateway, visitor, press } = await aVisitor();
  const { dataDir } = gateway;
  await press('confirm');
  await visitor.send('And which sizes do you have?');
  await waitFor('the answer', () => visitor.messages.filter(({ from }) => from === 'agent')[1]);
  await waitFor('the receipt', () =>
    inPlatform(dataDir, (db) =>
      db
        .prepare(
          `SELECT 1 FROM fates f JOIN reply_mails m USING (message_id) WHERE f.state = 'delivered'`,
        )
        .get(),
    ),
  );
  visitor.close();
  await waited(gateway);
  await waitFor('nothing to be left', () => noted(dataDir).length === 0);
  expect(await repliesTo(dataDir, ANN)).toEqual([]);
});

test('what is no address is refused; a program, the shop, and who did not ask get no mail', async () => {
  const gateway = await aGateway();
  await send(gateway.running.gateway, BOB, mailOf(BOB, 'bob'));
  await waitFor('the answer to Bob', () => outbox(gateway.dataDir).length === 1, 50);
  const visitor = await connected(gateway);
  const notify = { language: 'en' };
  const refused = { ok: false, error: 'invalid' };
  expect(await visitor.profile({ email: 'nonsense', notify })).toEqual(refused);
  for (const email of ['no-reply@example.com', INBOX]) {
    expect(await visitor.profile({ email, notify })).toEqual({ ok: true, confirms: true });
  }
  expect(await visitor.profile({ email: ANN, notify: { language: '<b>' } })).toEqual(refused);
  expect(await visitor.profile({ name: 'Ann', notify })).toEqual({ ok: true });
  expect(await visitor.profile({ email: ANN })).toEqual({ ok: true });
  expect(outbox(gateway.dataDir)).toHaveLength(1);
});
