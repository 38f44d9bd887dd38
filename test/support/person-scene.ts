import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from '@jest/globals';
import nodemailer from 'nodemailer';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from './capture-terminal.ts';
import { ChatClient } from './chat-client.ts';
import { ends } from './ends.ts';
import { CHAT_KEY, type ConfigChoices, INBOX } from './gateway-config.ts';
import { type RunningGateway, startGateway } from './running-gateway.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

/** The person that the tests of `erase` and `export` are about, and somebody who writes about her. */
export const ANN = 'ann.lee@example.com';
export const BOB = 'bob@elsewhere.example';
export const CANARY = 'canary-of-anns-own-words';

const NO_ARGUMENTS = { on: () => undefined, off: () => undefined };

/** Runs a command with the configuration of a gateway. */
export const command = (dataDir: string, ...args: string[]) => commandReading('', dataDir, ...args);

/** The same with this text on standard input, as from a pipe. */
export async function commandReading(input: string, dataDir: string, ...args: string[]) {
  const terminal = { ...captureTerminal(), input: Readable.from([input]) };
  const line = [...args, '--config', join(dataDir, 'gateway.json')];
  const code = await runCli(line, terminal, NO_ARGUMENTS as never);
  return { code, out: terminal.stdout(), err: terminal.stderr() };
}

/** As a mail program makes it: base64 body and file, so large that it is a file of its own. */
export const annsMail = () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n');
  return [
    `From: Ann Lee <${ANN}>`,
    `To: ${INBOX}`,
    `Cc: Bob <${BOB}>`,
    `Subject: My order, ${CANARY}`,
    'Message-ID: <one@example.com>',
    'Date: Tue, 21 Apr 2026 09:30:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    base64(`Where is my order? Write to ${ANN}, ${CANARY}.`),
    '--b',
    'Content-Type: text/plain; name="list.txt"',
    'Content-Disposition: attachment; filename="list.txt"',
    'Content-Transfer-Encoding: base64',
    '',
    base64(`${CANARY} ${ANN}\n`.repeat(4000)),
    '--b--',
    '',
  ].join('\r\n');
};

/** Somebody else's: Ann is in Cc, and quoted within base64. */
const bobsMail = () =>
  [
    `From: Bob <${BOB}>`,
    `To: ${INBOX}`,
    `Cc: ${ANN}`,
    'Subject: What Ann wrote',
    'Message-ID: <two@elsewhere.example>',
    'Date: Tue, 21 Apr 2026 10:30:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(`What are your opening hours?\n\nShe is at ${ANN}.\n`).toString('base64'),
    '',
  ].join('\r\n');

export async function send(gateway: RunningGateway, from: string, raw: string): Promise<void> {
  const transport = nodemailer.createTransport({
    ...{ host: '127.0.0.1', port: gateway.smtpPort, tls: { rejectUnauthorized: false } },
  });
  await transport.sendMail({ envelope: { from, to: [INBOX] }, raw });
  transport.close();
}

/** Starts, and can be stopped and started again: ends with the test. */
export async function aGateway(more: Pick<ConfigChoices, 'twilioUrl' | 'spoolUrl' | 'chat'> = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  const choices = { dataDir: dir.path, ...more };
  const running = { gateway: await startGateway(choices) };
  ends(() => running.gateway.stop());
  return {
    dataDir: dir.path,
    running,
    restart: async () => {
      await running.gateway.stop();
      running.gateway = await startGateway(choices);
    },
  };
}

/** Waits until a number of messages is delivered, and none waits. */
export const delivered = (dataDir: string, count: number) =>
  waitFor(
    `${count} delivered entries`,
    async () => {
      const { out } = await command(dataDir, 'queue', 'list', '--json');
      // What the command prints.
      const entries = JSON.parse(out) as { state: string }[];
      return entries.length === count && entries.every(({ state }) => state === 'delivered');
    },
    100,
  );

export const outbox = (dataDir: string) => readdirSync(join(dataDir, 'platform', 'outbox'));

/** Email and chat of Ann, a mail of Bob's that names her, all answered by the agent. */
export async function annAndBob(gateway: RunningGateway, dataDir: string) {
  await send(gateway, ANN, annsMail());
  await send(gateway, BOB, bobsMail());
  const visitor = await ChatClient.connect({ url: gateway.httpUrl, auth: { key: CHAT_KEY } });
  await visitor.profile({ name: 'Ann', email: ANN });
  const uploaded = await visitor.upload({
    name: `${CANARY}.txt`,
    type: 'text/plain',
    bytes: Buffer.from(`${CANARY} ${ANN}`),
  });
  const { id: upload } = (await uploaded.json()) as { id: string };
  const messageId = randomUUID();
  const say = `How can I return my shoes? ${CANARY} ${ANN}`;
  expect(await visitor.send(say, { id: messageId, uploads: [upload] })).toMatchObject({ ok: true });
  await delivered(dataDir, 3);
  await waitFor(
    'the answer in the chat',
    () => visitor.messages.some(({ from }) => from === 'agent'),
    50,
  );
  await waitFor(
    'two answers in the outbox',
    () => outbox(dataDir).filter((name) => name.endsWith('.eml')).length === 2,
    50,
  );
  return { visitor, messageId, say };
}
