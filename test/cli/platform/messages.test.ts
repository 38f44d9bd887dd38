import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Conversation, Message } from '../../../src/platform-api/resources.ts';
import { anEmail, call, create, messagesOf } from '../../local-platform/harness.ts';
import { cells, inputOf, runOn, setting, type Setting } from './harness.ts';

let it: Setting;
beforeEach(async () => {
  it = await setting();
});

interface Told {
  readonly status: number;
  readonly message: Message;
}

async function created(...args: string[]): Promise<Told> {
  const { code, stdout, stderr } = await it.run('messages', 'create', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Told;
}

const conversationOf = async ({ conversation_id }: Message) =>
  (await call<Conversation>(it.platform, 'GET', `/conversations/${String(conversation_id)}/`)).body;

describe('messages create', () => {
  test('an email with everything', async () => {
    const remote = `<${randomUUID()}@example.com>`;
    const { status, message } = await created(
      ...['--type', 'email', '--email', 'ann@example.com', '--name', 'Ann Lee'],
      ...['--to', 'sales@acme.example', '--subject', 'My order', '--content', '**Where** is it?'],
      ...['--format', 'MARKDOWN', '--remote-id', remote, '--timestamp', '2026-04-30T12:00Z'],
      ...['--in-reply-to', '<none@example.com>', '--references', '<a@x>', '<b@x>'],
      ...['--cc', 'Bob <bob@example.com>', '--cc', 'carl@example.com', '--bcc', 'dora@example.com'],
      ...['--intent', randomUUID(), '--topic', randomUUID(), '--user', randomUUID()],
    );
    expect(status).toBe(201);
    expect(message).toMatchObject({
      content: '**Where** is it?',
      format: 'MARKDOWN',
      remote_id: remote,
      created_at: '2026-04-30T12:00:00.000Z',
    });
    expect(await conversationOf(message)).toMatchObject({ type: 'email', title: 'My order' });
  });

  test('the same --remote-id again is the first message', async () => {
    const same = ['--type', 'sms', '--phone', '+12025550187', '--remote-id', 'SM1'];
    const first = await created(...same, '--content', 'one');
    const again = await created(...same, '--content', 'two');
    expect(again).toMatchObject({ status: 200, message: { id: first.message.id, content: 'one' } });
    const { stdout } = await it.run('messages', 'create', ...same, '--content', 'three');
    expect(stdout).toBe(
      `accepted (200):\n  message ${first.message.id}\n` +
        `  conversation ${String(first.message.conversation_id)}\n` +
        `  ticket ${String(first.message.ticket_id)}\n`,
    );
  });

  test('an email goes to the first address that is no catch-all, and threads', async () => {
    const from = ['--type', 'email', '--email', 'ann@example.com'];
    const first = await created(...from, '--content', 'one', '--remote-id', '<1@x>');
    const answer = await created(...from, '--content', 'two', '--in-reply-to', '<1@x>');
    expect(answer.message.conversation_id).toBe(first.message.conversation_id);
  });

  test('--conversation goes on with one', async () => {
    const first = await created('--type', 'web_chat', '--name', 'Ann', '--content', 'one');
    const id = String(first.message.conversation_id);
    const { stdout } = await it.run(
      ...['messages', 'create', '--conversation', id, '--content', 'two'],
    );
    expect(stdout).toMatch(/^created:\n {2}message [0-9a-f-]{36}\n {2}conversation /);
    expect((await messagesOf(it.platform, id)).map(({ text }) => text)).toEqual(['two', 'one']);
  });

  test('--content - reads the standard input, cut anywhere, to its last line break', async () => {
    const text = 'Grüße,\n\nwo ist 你好?\n';
    const bytes = Buffer.from(text);
    const input = inputOf(bytes.subarray(0, 3), bytes.subarray(3, 15), bytes.subarray(15));
    const args = ['messages', 'create', '--type', 'web_chat', '--content', '-', '--json'];
    const { stdout } = await runOn(it.file, args, { input });
    expect((JSON.parse(stdout) as Told).message.content).toBe(text.trimEnd());
  });

  test('who types is told how to end', async () => {
    const args = ['messages', 'create', '--type', 'web_chat', '--content', '-'];
    const input = Object.assign(inputOf('hi\n'), { isTTY: true });
    const { stderr } = await runOn(it.file, args, { input });
    expect(stderr).toContain('Ctrl-D');
  });

  test.each([
    ['no UTF-8', [Buffer.from([0x61, 0xff, 0xfe])], /not UTF-8/],
    ['too long', [Buffer.alloc(9_000_000, 97), Buffer.alloc(9_000_000, 97)], /larger than 16 MiB/],
  ])('a standard input that is %s is refused', async (_what, chunks, message) => {
    const args = ['messages', 'create', '--type', 'web_chat', '--content', '-'];
    const { code, stderr } = await runOn(it.file, args, { input: inputOf(...chunks) });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test('--attach uploads, --media takes what is there', async () => {
    const file = join(it.dir, 'receipt.txt');
    writeFileSync(file, 'paid');
    const uploaded = await it.run('media', 'upload', file, '--json');
    const [{ id = '' } = {}] = JSON.parse(uploaded.stdout) as { id?: string }[];
    const chat = ['--type', 'web_chat', '--content', 'see', '--media', id];
    const { status } = await created(...chat, '--attach', file, file);
    expect(status).toBe(201);
  });

  test('what is uploaded is named when the message is refused', async () => {
    const file = join(it.dir, 'receipt.txt');
    writeFileSync(file, 'paid');
    const { code, stderr } = await it.run(
      ...['messages', 'create', '--type', 'email', '--email', 'nobody', '--content', 'x'],
      ...['--attach', file],
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/--media [0-9a-f-]{36}\n/);
    expect(stderr).toContain('contact.email (--email): ');
  });
});

describe('messages list', () => {
  let first: Message;
  let second: Message;
  beforeEach(async () => {
    const long = `one ${'x'.repeat(300)}\nmore`;
    ({ body: first } = await create(it.platform, anEmail({ message: { content: long } })));
    ({ body: second } = await create(it.platform, anEmail({ message: { content: 'two' } })));
  });

  test('is a table; on a pipe, a long text is whole', async () => {
    const { stdout } = await it.run('messages', 'list');
    const [heads, newest, oldest] = cells(stdout);
    expect(heads).toEqual(['created', 'role', 'status', 'text', 'id']);
    expect(newest?.slice(1)).toEqual(['customer', 'DELIVERED', 'two', second.id]);
    expect(oldest?.[3]).toBe(`one ${'x'.repeat(300)} more`);
  });

  test.each<[string, () => string[]]>([
    ['--conversation', () => ['--conversation', String(second.conversation_id)]],
    ['--ticket', () => ['--ticket', String(second.ticket_id)]],
  ])('%s filters', async (_option, args) => {
    const { stdout } = await it.run('messages', 'list', ...args(), '--all', '--json');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Message),
    ).toMatchObject([{ id: second.id, text: 'two' }]);
  });

  test('several conversations', async () => {
    const both = [first, second].map(({ conversation_id }) => conversation_id).join(',');
    const { stdout } = await it.run('messages', 'list', '--conversation', both);
    expect(cells(stdout)).toHaveLength(3);
  });

  test('get shows the fields, then the whole text', async () => {
    const { stdout } = await it.run('messages', 'get', first.id);
    expect(stdout).toMatch(/^role +customer$/m);
    expect(stdout).toContain(`\n\none ${'x'.repeat(300)}\nmore\n`);
    const json = JSON.parse(
      (await it.run('messages', 'get', first.id, '--json')).stdout,
    ) as Message;
    expect(json).toMatchObject({ id: first.id, content: first.content });
  });
});

test('conversations get', async () => {
  const { body } = await create(it.platform, anEmail({ message: { email: { subject: 'Late' } } }));
  const id = String(body.conversation_id);
  const { stdout } = await it.run('conversations', 'get', id);
  expect(stdout).toMatch(/^type +email$/m);
  expect(stdout).toMatch(/^title +Late$/m);
  const json = await it.run('conversations', 'get', id, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ id, direction: 'inbound' });
});

test('--all follows the pages, as a table and as JSON lines', async () => {
  const count = 230;
  const bodies = Array.from({ length: count }, (_, index) =>
    anEmail({ message: { content: `message ${index}` } }),
  );
  await Promise.all(bodies.map((body) => create(it.platform, body)));
  const { stdout } = await it.run('messages', 'list', '--all', '--json');
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Message).id);
  expect(new Set(ids).size).toBe(count);
  // Pages of any size are one table: one line of heads, columns below each other.
  const table = await it.run('messages', 'list', '--all', '--limit', '100');
  const lines = table.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(count + 1);
  expect(new Set(lines.map((line) => line.search(/\S+$/))).size).toBe(1);
  expect(lines.slice(1).map((line) => line.slice(-36))).toEqual(ids);
  expect(table.stderr).toBe('');
});
