import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import nodemailer from 'nodemailer';
import { INBOX } from '../support/gateway-config.ts';
import { ends } from '../support/ends.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { entriesOf, waitForEntries } from '../support/spool-beside.ts';
import { echoAgent, scene } from './scene.ts';

const DEFAULTS = { per10min: 10, perHour: 25, perThreadPer10min: 5, sameBodyPerHour: 3 };

interface Mail {
  readonly id: string;
  readonly references: string;
}

/** What the agent has sent by email so far, in no order. */
function outboxOf(dataDir: string): readonly Mail[] {
  const folder = join(dataDir, 'platform', 'outbox');
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.eml'))
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8').replace(/\r\n[ \t]+/g, ' ');
      return {
        id: /^Message-ID: (\S+)/im.exec(text)?.[1] ?? '',
        references: /^References: (.+)/im.exec(text)?.[1] ?? '',
      };
    });
}

interface Habits {
  readonly textOf: (n: number) => string;
  /** Writes References, and not In-Reply-To alone. */
  readonly references: boolean;
}

/**
 * Someone's mail program that answers all it gets and marks none of it: no Auto-Submitted, no
 * telling subject. It ends when the agent has nothing new for it.
 */
async function autoresponder(
  dataDir: string,
  smtpPort: number,
  { textOf, references }: Habits,
): Promise<void> {
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    tls: { rejectUnauthorized: false },
  });
  ends(() => transport.close());
  const send = (n: number, answered?: Mail) =>
    transport.sendMail({
      from: 'Otto <otto@example.com>',
      to: INBOX,
      messageId: `<auto.${n}@example.com>`,
      subject: answered === undefined ? 'Order' : 'Re: Order',
      text: textOf(n),
      ...(answered && {
        inReplyTo: answered.id,
        ...(references && { references: `${answered.references} ${answered.id}` }),
      }),
    });
  const answered = new Set<string>();
  await send(1);
  for (let n = 2; ; n += 1) {
    const next = await waitForEntries(dataDir, 'an answer, or the end of it', (entries) => {
      const reply = outboxOf(dataDir).find(({ id }) => !answered.has(id));
      if (reply !== undefined) return reply;
      return entries.some(({ state }) => state === 'held') ? 'ended' : undefined;
    });
    if (next === 'ended') return;
    answered.add(next.id);
    await send(n, next);
  }
}

const counting = (n: number) => `I am away. This is notice ${n}.`;

test.each<[string, Habits, number, string]>([
  ['each text differs', { textOf: counting, references: true }, 6, 'perThreadPer10min'],
  [
    'each text differs, and there is no References',
    { textOf: counting, references: false },
    7,
    'perThreadPer10min',
  ],
  [
    'all texts are the same',
    { textOf: () => 'I am away.', references: true },
    3,
    'sameBodyPerHour',
  ],
])(
  'an autoresponder that answers every reply of the agent is stopped: %s',
  async (_, habits, messages, limit) => {
    const { dataDir, platform, gateway } = await scene({ agent: echoAgent, loop: DEFAULTS });
    await autoresponder(dataDir, gateway.smtpPort, habits);

    const entries = await entriesOf(dataDir);
    expect(entries).toHaveLength(messages);
    expect(entries.filter(({ state }) => state === 'held')).toMatchObject([
      { reason: { code: 'rate_limit', params: { limit } } },
    ]);
    expect(platform.messages).toHaveLength(messages - 1);
    expect(new Set(platform.messages.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    expect(outboxOf(dataDir)).toHaveLength(messages - 1);
  },
);

test('a robot that answers every text of the agent is stopped', async () => {
  const loop = { per10min: 8, perHour: 60, perDay: 150, sameBodyPerHour: 5 };
  const { dataDir, platform, gateway } = await scene({ agent: echoAgent, sms: { loop } });
  const log = join(dataDir, 'platform', 'outbox', 'sms.log');
  const answers = () =>
    existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n').length : 0;
  const held = async () => (await entriesOf(dataDir)).filter(({ state }) => state === 'held');
  for (let n = 1; (await held()).length === 0; n += 1) {
    await sendSms(gateway.httpUrl, { MessageSid: sidOf(`robot ${n}`), Body: counting(n) });
    await waitForEntries(
      dataDir,
      'an answer, or the end of it',
      (entries) => answers() === n || entries.some(({ state }) => state === 'held'),
    );
  }
  expect(await held()).toMatchObject([
    { reason: { code: 'rate_limit', params: { limit: 'per10min' } } },
  ]);
  expect(platform.messages).toHaveLength(8);
  expect(answers()).toBe(8);
});
