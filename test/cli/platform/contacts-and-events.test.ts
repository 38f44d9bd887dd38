import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Contact, Page } from '../../../src/platform-api/resources.ts';
import { anEmail, create } from '../../local-platform/harness.ts';
import { cells, setting, type Setting } from './harness.ts';

let it: Setting;
beforeEach(async () => {
  it = await setting();
  for (const [email, name] of [
    ['ann@example.com', 'Ann Lee'],
    ['bob@example.com', 'Bob'],
  ]) {
    await create(it.platform, anEmail({ contact: { email, name } }));
  }
});

async function contacts(...args: string[]): Promise<readonly Contact[]> {
  const { code, stdout } = await it.run('contacts', 'list', '--json', ...args);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as Page<Contact>).results;
}

const names = async (...args: string[]) => (await contacts(...args)).map(({ name }) => name);

describe('contacts list', () => {
  test('is a table', async () => {
    const { stdout } = await it.run('contacts', 'list');
    const [heads, bob] = cells(stdout);
    expect(heads).toEqual(['name', 'email', 'phone', 'last activity', 'id']);
    expect(bob?.slice(0, 2)).toEqual(['Bob', 'bob@example.com']);
  });

  test.each([
    [['--email', 'ann@example.com'], ['Ann Lee']],
    [['--phone', '+12025550187'], []],
    [
      ['--archived', 'false'],
      ['Bob', 'Ann Lee'],
    ],
    [['--archived', 'true'], []],
    [
      ['--top-level', 'true'],
      ['Bob', 'Ann Lee'],
    ],
    [['--top-level', 'false'], []],
    [['--parent', randomUUID()], []],
    [['--parent', `${randomUUID()},${randomUUID()}`], []],
    [['--remote-platform', 'shopify'], []],
    [['--remote-platform', 'shopify,zendesk'], []],
  ])('%j filters', async (args, expected) => {
    expect(await names(...args)).toEqual(expected);
  });

  test('--id takes one or several', async () => {
    const [bob, ann] = (await contacts()).map(({ id }) => id);
    expect(await names('--id', String(ann))).toEqual(['Ann Lee']);
    expect(await names('--id', `${String(ann)}, ${String(bob)}`)).toEqual(['Bob', 'Ann Lee']);
  });
});

test('contacts get', async () => {
  const id = (await contacts('--email', 'ann@example.com'))[0]?.id ?? '';
  const { stdout } = await it.run('contacts', 'get', id);
  expect(stdout).toMatch(/^name +Ann Lee$/m);
  const json = await it.run('contacts', 'get', id, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ id, email: 'ann@example.com' });
});

describe('events create', () => {
  test('for a contact', async () => {
    const [ann] = await contacts('--email', 'ann@example.com');
    const { stdout } = await it.run(
      ...['events', 'create', '--name', 'Order paid', '--email', 'ann@example.com'],
      ...['--description', 'Order 1001', '--time', '2026-04-30T12:00Z', '--contact-name', 'Ann'],
    );
    expect(stdout).toBe(`recorded for contact ${ann?.id ?? ''} (ann@example.com)\n`);
  });

  test('for a new contact and as a metric, with every field', async () => {
    const { code, stdout } = await it.run(
      ...['events', 'create', '--name', 'Order paid', '--phone', '+12025550187'],
      ...['--remote-id', 'customer-7', '--metric', 'order_value=49.90', '--dedup-key', 'o-1001'],
      ...['--object-type', 'order', '--object-id', randomUUID(), '--context-type', 'cart'],
      ...['--context-id', randomUUID(), '--property', 'currency=EUR', '--property', 'a=b=c'],
      '--json',
    );
    expect(code).toBe(0);
    const { contact } = JSON.parse(stdout) as { contact: { id: string; phone: string } };
    expect(contact).toMatchObject({ phone: '+12025550187', remote_id: 'customer-7' });
    expect(await contacts('--phone', '+12025550187')).toMatchObject([{ id: contact.id }]);
  });

  test('as a metric alone', async () => {
    const args = ['events', 'create', '--name', 'Visit', '--metric', 'visits=-1.5e3'];
    expect(await it.run(...args)).toEqual({ code: 0, stdout: 'recorded\n', stderr: '' });
  });

  test('neither contact nor metric is a mistake', async () => {
    const { code, stderr } = await it.run('events', 'create', '--name', 'Visit');
    expect(code).toBe(2);
    expect(stderr).toContain('give a contact');
  });
});
