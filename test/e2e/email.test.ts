import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import nodemailer from 'nodemailer';
import type Mail from 'nodemailer/lib/mailer/index.js';
import { ends } from '../support/ends.ts';
import { randomFaults, seededRandom } from '../support/random-faults.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { echoAgent } from './scene.ts';
import { newBlobs, sharedGateway, type ShopScene } from './shared-gateway.ts';

/** A shop for each test. */
const scene = sharedGateway({
  first: {},
  threads: { agent: echoAgent },
  attachments: {},
  repeated_small: {},
  repeated_large: {},
  claims: {},
  failing: {},
});

/** A mail server that brings us mail, with STARTTLS as they do. */
function mailServer({ gateway, shop }: ShopScene) {
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: gateway.smtpPort,
    tls: { rejectUnauthorized: false },
    requireTLS: true,
    pool: true,
    maxConnections: 4,
  });
  ends(() => transport.close());
  return (mail: Mail.Options) =>
    transport.sendMail({ from: 'Ann Lee <ann@example.com>', to: shop.inbox, ...mail });
}

/** Sends raw bytes and answers the reply to the final dot. */
async function sendRaw({ gateway, shop }: ShopScene, message: string): Promise<string> {
  const client = await SmtpClient.connect(gateway.smtpPort);
  try {
    await client.reply();
    await client.envelope([shop.inbox]);
    await client.say('DATA');
    client.send(message);
    return await client.say('\r\n.');
  } finally {
    client.destroy();
  }
}

test('an email becomes one create-message request', async () => {
  const stage = scene('first');
  const { platform, shop } = stage;
  const send = mailServer(stage);
  const date = new Date(Date.now() - 3_600_000);
  date.setMilliseconds(0);
  const { response } = await send({
    messageId: '<one@example.com>',
    date,
    to: [`Acme <${shop.inbox}>`, 'Bob <bob@example.com>'],
    cc: 'Cäcilie <cc@example.com>, plain@example.com',
    subject: 'Wo ist meine Bestellung? 📦',
    text: 'Hello,\n\nwhere is my order 1001?\n\nAnn',
  });
  expect(response).toMatch(/^250 2\.0\.0 /);

  await waitFor('the message', () => platform.messages.length === 1);
  expect(platform.payloads).toEqual([
    {
      contact: { email: 'ann@example.com', name: 'Ann Lee' },
      conversation: { direction: 'inbound', type: 'email', agent_contact: shop.inbox },
      message: {
        content: 'Hello,\n\nwhere is my order 1001?\n\nAnn',
        format: 'TEXT',
        remote_id: '<one@example.com>',
        timestamp: date.toISOString(),
        email: {
          subject: 'Wo ist meine Bestellung? 📦',
          cc: [
            { email: 'bob@example.com', name: 'Bob' },
            { email: 'cc@example.com', name: 'Cäcilie' },
            { email: 'plain@example.com' },
          ],
        },
      },
    },
  ]);
});

test('a reply goes into the conversation of what it answers, by References or In-Reply-To', async () => {
  const stage = scene('threads');
  const { platform, shop } = stage;
  const send = mailServer(stage);
  await send({ messageId: '<first@example.com>', subject: 'Order', text: 'Where is it?' });
  await waitFor('the message', () => platform.messages.length === 1);
  const { outbox } = platform;
  const answer = await waitFor("the agent's answer", () => {
    const [file] = readdirSync(outbox, { recursive: true }).map(String).filter(isEmail);
    return file !== undefined && readFileSync(join(outbox, file), 'utf8');
  });
  const answerId = /^Message-ID: (<[^>]+>)/im.exec(answer)?.[1] ?? '';

  await send({
    messageId: '<second@example.com>',
    subject: 'Re: Order',
    inReplyTo: answerId,
    references: ['<first@example.com>', answerId],
    text:
      'Thanks, and when?\n\n' +
      `On Mon, Nov 20, 2023 at 10:00 AM Acme Support <${shop.inbox}> wrote:\n` +
      '> You said: Where is it?\n',
  });
  await waitFor('the reply', () => platform.messages.length === 2);
  // Only the agent's own message-id names the thread here.
  await send({
    messageId: '<third@example.com>',
    subject: 'Re: Order',
    inReplyTo: answerId,
    text: 'Hello?',
  });
  await waitFor('the second reply', () => platform.messages.length === 3);
  await send({ messageId: '<other@example.com>', subject: 'Order', text: 'Something else' });
  await waitFor('the other one', () => platform.messages.length === 4);

  const [first, second, third, other] = platform.messages;
  expect(second?.conversation_id).toBe(first?.conversation_id);
  expect(third?.conversation_id).toBe(first?.conversation_id);
  expect(other?.conversation_id).not.toBe(first?.conversation_id);
  expect(platform.payloads.map(({ message }) => message.email)).toEqual([
    { subject: 'Order' },
    {
      subject: 'Re: Order',
      in_reply_to: answerId,
      references: ['<first@example.com>', answerId],
    },
    { subject: 'Re: Order', in_reply_to: answerId },
    { subject: 'Order' },
  ]);
  expect(platform.payloads[1]?.message.content).toBe('Thanks, and when?');
});

const isEmail = (file: string): boolean => file.endsWith('.eml');

test('attachments are uploaded first, byte for byte, from a message of any size', async () => {
  const stage = scene('attachments');
  const { platform } = stage;
  const send = mailServer(stage);
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    randomBytes(20_000),
  ]);
  const big = randomBytes(3_000_000);
  const lines = Buffer.from('a,b\r\n1,2\r\n\r\n.\r\n..\r\nlast line without an end');
  await send({
    messageId: '<files@example.com>',
    subject: 'Files',
    text: 'See attached.',
    attachments: [
      { filename: 'photo.png', content: png },
      { filename: 'größe 1.bin', content: big },
      { filename: 'table.csv', content: lines, contentTransferEncoding: 'quoted-printable' },
      { filename: 'empty.txt', content: '' },
    ],
  });
  const [message] = await waitFor('the message', () => platform.messages[0] && platform.messages);
  expect(platform.posts).toEqual([
    ...Array.from({ length: 4 }, () => 'POST /media/'),
    'POST /messages/',
  ]);
  const stored = platform.inspect.attachments(message?.id ?? '');
  expect(platform.payloads[0]?.message.attachments).toEqual(stored.map(({ id }) => id));
  expect(stored.map(({ name, permission }) => [name, permission])).toEqual([
    ['photo.png', 'private'],
    ['größe 1.bin', 'private'],
    ['table.csv', 'private'],
    ['empty.txt', 'private'],
  ]);
  const bytes = stored.map(({ path }) => readFileSync(path));
  expect(bytes.map(({ length }) => length)).toEqual([png.length, big.length, lines.length, 0]);
  expect(bytes[0]?.equals(png)).toBe(true);
  expect(bytes[1]?.equals(big)).toBe(true);
  expect(bytes[2]?.toString()).toBe(lines.toString());
});

test.each<['small' | 'large', number]>([
  ['small', 100],
  ['large', 200_000],
])(
  'the same %s message by several paths is one message, each acknowledged alike',
  async (size, characters) => {
    const stage = scene(`repeated_${size}`);
    const { platform, shop } = stage;
    const blobs = newBlobs(stage);
    const message = [
      'From: Ann <ann@example.com>',
      `To: ${shop.inbox}`,
      'Subject: Again',
      'Message-ID: <again@example.com>',
      'Date: Mon, 20 Nov 2023 10:00:00 +0000',
      '',
      ...Array.from({ length: characters / 100 }, (_, n) => `${n} `.padEnd(98, 'x')),
    ].join('\r\n');
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, hop) =>
        sendRaw(stage, `Received: from hop${hop}.example by mx\r\n${message}`),
      ),
    );
    expect(answers[0]).toMatch(/^250 2\.0\.0 Ok: queued as [0-9a-f-]{36}$/);
    expect(new Set(answers).size).toBe(1);
    await sendRaw(
      stage,
      message.replace('<again@', '<next@').replace('Subject: Again', 'Subject: Next'),
    );
    await waitFor('the next message', () =>
      platform.messages.at(-1)?.remote_id?.startsWith('<next'),
    );
    expect(platform.messages.map(({ remote_id }) => remote_id)).toEqual([
      '<again@example.com>',
      '<next@example.com>',
    ]);
    expect(await stage.entries()).toHaveLength(2);
    expect(blobs()).toHaveLength(characters > 65_536 ? 2 : 0);
  },
);

test("another message that claims a Message-ID does not take the first one's place", async () => {
  const stage = scene('claims');
  const { platform } = stage;
  const send = mailServer(stage);
  await send({ messageId: '<mine@example.com>', text: 'the first' });
  await send({ messageId: '<mine@example.com>', from: 'eve@example.net', text: 'the second' });
  await waitFor('both', () => platform.messages.length === 2);
  expect(new Set(platform.messages.map(({ content }) => content))).toEqual(
    new Set(['the first', 'the second']),
  );
  expect(platform.messages.find(({ content }) => content === 'the second')?.remote_id).toMatch(
    /^<mine@example\.com>#[0-9a-f]{12}$/,
  );
});

test('order of one sender is kept while the platform fails at random', async () => {
  const stage = scene('failing');
  const { platform } = stage;
  const faults = randomFaults(seededRandom(3), 0.25);
  platform.faults = faults.hook;
  const send = mailServer(stage);
  const senders = ['ann', 'bob', 'cyd', 'dan'];
  const file = randomBytes(5000);
  const idOf = (who: string, n: number) => `<${who}.${n}@example.com>`;
  await Promise.all(
    senders.map(async (who) => {
      for (let n = 0; n < 8; n += 1) {
        await send({
          from: `${who}@example.com`,
          messageId: idOf(who, n),
          text: `${who} ${n}`,
          ...(n === 3 && { attachments: [{ filename: 'data.bin', content: file }] }),
        });
      }
    }),
  );
  const expected = senders.flatMap((who) => Array.from({ length: 8 }, (_, n) => idOf(who, n)));
  await waitFor('all messages', () => platform.messages.length >= expected.length);

  const { messages } = platform;
  expect(messages.map(({ remote_id }) => remote_id).toSorted()).toEqual(expected.toSorted());
  for (const who of senders) {
    const own = messages.filter(({ content }) => content.startsWith(who));
    expect(own.map(({ content }) => content)).toEqual(
      Array.from({ length: 8 }, (_, n) => `${who} ${n}`),
    );
    const stored = platform.inspect.attachments(own[3]?.id ?? '');
    expect(stored.map(({ path }) => readFileSync(path).equals(file))).toEqual([true]);
  }
});
