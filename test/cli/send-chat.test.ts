import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { asVisitorId } from '../../src/domain/ids.ts';
import { aShop, ChatGateway, ROOMY } from '../channels/chat/chat-gateway.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ends } from '../support/ends.ts';
import { SHOP } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });
let folder: string;
let chat: ChatGateway;
beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  folder = dir.path;
  const loaded = loadConfig({ env: env() });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  await completeConfig(loaded.config);
  chat = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })] });
  ends(() => chat.stop());
});

const env = () => ({ SLUICE_DATA_DIR: join(folder, 'data') });
async function send(...args: string[]) {
  const terminal = captureTerminal(env());
  const { port } = new URL(chat.url);
  const code = await runCli(['send', 'chat', '--port', port, ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}
const file = (name: string, bytes: string): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

/** Answers the first visitor who writes, as the agent would. */
async function replyOnce(text: string): Promise<void> {
  await waitFor('a message', async () => (await chat.entries()).length > 0);
  const [entry] = await chat.entries();
  const visitorId = asVisitorId(String(entry?.meta['visitorId']));
  const appended = await chat.store.chat.storeReply({
    ...{ shopId: SHOP, visitorId, platformMessageId: 'r1', text, format: 'TEXT', at: 7 },
  });
  if (appended !== undefined) chat.server.publish(SHOP, appended);
}

test('a message with files, a name and an address, and its reply, as JSON', async () => {
  const args = ['--name', 'Ada', '--email', 'ada@customer.example', '--json'];
  const files = [file('one.txt', 'first file'), file('two.txt', 'second file')];
  const sending = send('--text', 'see these', '--file', ...files, ...args);
  await replyOnce('seen');
  const { code, stdout, stderr } = await sending;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    visitorId: expect.stringMatching(/^[0-9a-f]{32}$/),
    seq: 1,
    uploads: [{ name: 'one.txt', type: 'text/plain', size: 10 }, { name: 'two.txt' }],
    reply: { seq: 2, from: 'agent', text: 'seen' },
  });
  const [entry] = await chat.entries();
  expect(entry?.meta).toMatchObject({ name: 'Ada', email: 'ada@customer.example' });
});

test('without a reply in time JSON is printed all the same, and it fails', async () => {
  const { code, stdout, stderr } = await send('hello', '--json', '--wait', '10ms');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'no reply within 0.01 s; the message was accepted\n',
  });
  expect(JSON.parse(stdout)).toMatchObject({ seq: 1, reply: null });
});

test('a file alone is a message', async () => {
  expect(await send('--file', file('a.txt', 'a'), '--wait', '0s')).toMatchObject({
    code: 0,
    stdout: 'accepted: message 1\n',
  });
});

test('what cannot be sent is told, and nothing is sent by halves', async () => {
  expect(await send()).toMatchObject({ code: 2, stderr: expect.stringMatching(/nothing to send/) });
  expect(await send('a', '--text', 'b')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/once/),
  });
  expect(await send('a', '--file', join(folder, 'none'))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/none cannot be read/),
  });
  expect(await send('a', '--file', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is not a file/),
  });
  expect(await send('x'.repeat(8001))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/8001 .* limit is 8000/),
  });
  const page = await send('a', '--file', file('page.html', '<html>'));
  expect(page).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/page\.html was refused: unsupported/),
  });
  expect(await send('a', '--email', 'nobody')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/invalid/),
  });
  expect(await chat.entries()).toEqual([]);
});

test('a gateway that lets nobody in from here has answered: that is said', async () => {
  const other = await ChatGateway.start({
    shops: [aShop({ limits: ROOMY, origins: ['https://acme.example'], allowNoOrigin: false })],
  });
  ends(() => other.stop());
  const { code, stderr } = await send('hello', '--port', new URL(other.url).port);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^refused: HTTP 4\d\d; .*does it run with this configuration/);
});
