import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Message, Page, Ticket } from '../../../src/platform-api/resources.ts';
import { localTime } from '../../../src/cli/platform/values.ts';
import { anEmail, create } from '../../local-platform/harness.ts';
import { cells, runOn, setting, type Setting } from './harness.ts';

let it: Setting;
let first: Message;
let second: Message;

beforeEach(async () => {
  it = await setting();
  ({ body: first } = await create(
    it.platform,
    anEmail({ message: { email: { subject: 'My \u001b[31morder\u202e' } } }),
  ));
  ({ body: second } = await create(it.platform, anEmail({ message: { content: 'Second' } })));
});

const ids = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Ticket).id);

describe('tickets list', () => {
  test('is a table, newest first', async () => {
    const { code, stdout, stderr } = await it.run('tickets', 'list');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [heads, newest = [], oldest = []] = cells(stdout);
    expect(heads).toEqual(['number', 'status', 'priority', 'name', 'last message', 'id']);
    expect(newest).toEqual([
      '2',
      'New',
      '0',
      'Second',
      localTime(second.created_at),
      String(second.ticket_id),
    ]);
    // What a stranger wrote moves no cursor and turns no line round.
    expect(oldest[3]).toBe('My \ufffd[31morder\ufffd');
  });

  test('fits a narrow screen, in colours', async () => {
    const { stdout } = await runOn(it.file, ['tickets', 'list'], { columns: 80 });
    const [heads = '', ...rows] = stdout.trimEnd().split('\n');
    expect(heads).toContain('\u001b[2mnumber');
    expect(rows[0]).toContain('\u001b[36mNew');
    const plain = stdout.replace(/\u001b\[\d+m/g, '');
    expect(cells(plain)[0]).toEqual(['number', 'status', 'name', 'id']);
    for (const line of plain.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('has no colours with %j', async (env) => {
    const { stdout } = await runOn(it.file, ['tickets', 'list'], {
      columns: 120,
      env: { SLUICE_CONFIG: it.file, ...env },
    });
    expect(stdout).not.toContain('\u001b');
  });

  test('--json is the page as the API gives it', async () => {
    const { stdout } = await it.run('tickets', 'list', '--json', '--limit', '1');
    const page = JSON.parse(stdout) as Page<Ticket>;
    expect(page.results).toMatchObject([{ id: second.ticket_id, number: 2, label_id: null }]);
    expect(page.next).toContain('cursor=');
    expect(page.previous).toBeNull();
  });

  test('says how to go on; --cursor takes the cursor, or the link', async () => {
    const { stderr } = await it.run('tickets', 'list', '--limit', '1');
    const cursor = /^For more: --cursor (\S+), or --all$/m.exec(stderr)?.[1] ?? '';
    const further = await it.run('tickets', 'list', '--limit', '1', '--cursor', cursor);
    expect(cells(further.stdout)[1]?.at(-1)).toBe(first.ticket_id);
    const { stdout } = await it.run('tickets', 'list', '--json', '--limit', '1');
    const { next } = JSON.parse(stdout) as Page<Ticket>;
    const linked = await it.run('tickets', 'list', '--cursor', String(next));
    expect(cells(linked.stdout)[1]?.at(-1)).toBe(first.ticket_id);
  });

  test.each<[string, () => string[], () => (string | null)[]]>([
    ['--id', () => ['--id', String(first.ticket_id)], () => [first.ticket_id]],
    [
      'one --conversation',
      () => ['--conversation', String(second.conversation_id)],
      () => [second.ticket_id],
    ],
    [
      'several',
      () => [
        '--conversation',
        `${String(first.conversation_id)},${String(second.conversation_id)}`,
      ],
      () => [second.ticket_id, first.ticket_id],
    ],
    ['--priority', () => ['--priority', '0'], () => [second.ticket_id, first.ticket_id]],
    ['several --priority', () => ['--priority', '-1,0'], () => [second.ticket_id, first.ticket_id]],
    ['another --priority', () => ['--priority', '7'], () => []],
    ['--created', () => ['--created', '7d'], () => [second.ticket_id, first.ticket_id]],
    [
      '--created as the API has it',
      () => ['--created', 'relative:-1d,'],
      () => [second.ticket_id, first.ticket_id],
    ],
    ['another --agent', () => ['--agent', first.id], () => []],
    ['another --assignee', () => ['--assignee', first.id], () => []],
    ['another --label', () => ['--label', first.id], () => []],
  ])('%s filters', async (_what, args, expected) => {
    const { code, stdout } = await it.run('tickets', 'list', '--all', '--json', ...args());
    expect(code).toBe(0);
    expect(stdout === '' ? [] : ids(stdout)).toEqual(expected());
    const { stdout: count } = await it.run('tickets', 'count', ...args());
    expect(count).toBe(`${expected().length}\n`);
  });

  test('--created-from and --created-to are one range', async () => {
    const past = ['--created-from', '2020-01-01', '--created-to', '2020-01-07'];
    expect(await it.run('tickets', 'list', ...past)).toMatchObject({
      code: 0,
      stdout: 'No tickets.\n',
    });
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect((await it.run('tickets', 'count', '--created-from', hourAgo)).stdout).toBe('2\n');
  });
});

test('tickets get shows every field, and --json the object', async () => {
  const id = String(second.ticket_id);
  const { stdout } = await it.run('tickets', 'get', id);
  expect(stdout).toMatch(new RegExp(`^id +${id}$`, 'm'));
  expect(stdout).toMatch(/^label_id +-$/m);
  expect(stdout).toMatch(/^created_at +\d{4}-\d\d-\d\d \d\d:\d\d$/m);
  const json = JSON.parse((await it.run('tickets', 'get', id, '--json')).stdout) as Ticket;
  expect(json).toMatchObject({ id, name: 'Second', conversation_id: second.conversation_id });
});

test('tickets count --json', async () => {
  const { stdout } = await it.run('tickets', 'count', '--json');
  expect(JSON.parse(stdout)).toEqual({ count: 2 });
});
