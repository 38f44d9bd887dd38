import { expect, test } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import type { Contact, Page } from '../../src/platform-api/resources.ts';
import { anEmail, call, create, startPlatform } from './harness.ts';

const contactsBy = async (platform: LocalPlatform, query: string) =>
  (await call<Page<Contact>>(platform, 'GET', `/contacts/?${query}`)).body.results;

const aText = (phone: string, name?: string) => ({
  contact: { phone, ...(name && { name }) },
  conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
  message: { content: 'x' },
});

test('a phone number is one person however it is written, and is given in E.164', async () => {
  const platform = await startPlatform();
  const written = ['+15550002222', '+1 (555) 000-2222', '+1-555-000-2222'];
  const answers = [];
  for (const phone of written) answers.push(await create(platform, aText(phone)));
  expect(new Set(answers.map(({ body }) => body.contact_id)).size).toBe(1);
  for (const phone of written) {
    const found = await contactsBy(platform, `phone=${encodeURIComponent(phone)}`);
    expect(found).toMatchObject([{ id: answers[0]?.body.contact_id, phone: '+15550002222' }]);
  }
});

test('a number that cannot be told to be one is taken as it is', async () => {
  const platform = await startPlatform();
  const { body } = await create(platform, aText('40404'));
  expect(await contactsBy(platform, 'phone=40404')).toMatchObject([{ id: body.contact_id }]);
});

test('email goes before phone, and a number that is somebody else’s stays his', async () => {
  const platform = await startPlatform();
  const ann = await create(platform, anEmail());
  const bob = await create(platform, aText('+15550002222', 'Bob'));
  const both = await create(
    platform,
    anEmail({ contact: { email: 'ANN@example.com', phone: '+15550002222' } }),
  );
  expect(both.body.contact_id).toBe(ann.body.contact_id);
  const found = await contactsBy(platform, 'phone=%2B15550002222');
  expect(found).toMatchObject([{ id: bob.body.contact_id, name: 'Bob', email: null }]);
});

test('a name is taken when there was none, and is not overwritten', async () => {
  const platform = await startPlatform();
  const shown = async () => {
    const [contact] = await contactsBy(platform, 'phone=%2B15550002222');
    return [contact?.name, contact?.display_name];
  };
  await create(platform, aText('+15550002222'));
  expect(await shown()).toEqual([undefined, '+15550002222']);
  await create(platform, aText('+15550002222', ' Bob '));
  expect(await shown()).toEqual(['Bob', 'Bob']);
  await create(platform, aText('+15550002222', 'Mallory'));
  expect(await shown()).toEqual(['Bob', 'Bob']);
});

test('who writes in someone else’s conversation is himself there', async () => {
  const platform = await startPlatform();
  const first = await create(platform, anEmail());
  const conversation = { id: first.body.conversation_id };
  const other = await create(
    platform,
    anEmail({ contact: { email: 'bob@example.com', name: 'Bob' }, conversation }),
  );
  expect(other.body.conversation_id).toBe(first.body.conversation_id);
  expect(other.body.contact_id).not.toBe(first.body.contact_id);
  expect(await contactsBy(platform, 'email=bob@example.com')).toMatchObject([{ name: 'Bob' }]);
});

test.each([
  ['ceo@bank.example', undefined],
  ['CEO <ceo@bank.example>', undefined],
  ['ｃｅｏ＠bank.example', undefined],
  ['ANN@example.com', 'ANN@example.com'],
  ['Анна @ работе', 'Анна @ работе'],
  ['李雷', '李雷'],
])('a name that is somebody else’s address is none: %s', async (name, expected) => {
  const platform = await startPlatform();
  await create(platform, anEmail({ contact: { email: 'ann@example.com', name } }));
  const [contact] = await contactsBy(platform, 'email=ann@example.com');
  expect(contact?.name).toBe(expected);
  expect(contact?.display_name).toBe(expected ?? 'ann@example.com');
});
