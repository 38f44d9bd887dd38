import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { ends } from '../support/ends.ts';
import { filesWith } from '../support/erased-scan.ts';
import { command, delivered } from '../support/person-scene.ts';
import { startGateway } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  changeOf,
  eventOf,
  type Members,
  PHONE_NUMBER_ID,
  postEvent,
  requestsOf,
  VERIFY_TOKEN,
  wamid,
  WHATSAPP_NUMBER,
} from '../support/whatsapp-stand-in.ts';
import { zipContents } from '../support/zip-contents.ts';
import { scene } from './scene.ts';

/** One person on WhatsApp, under several names. */

const whatsappCloud = {
  ...{ phoneNumberIds: [PHONE_NUMBER_ID], accessToken: ACCESS_TOKEN, appSecrets: [APP_SECRET] },
  ...{ verifyToken: VERIFY_TOKEN, baseUrl: 'http://127.0.0.1:9/v25.0' },
};
const sms = { numbers: [WHATSAPP_NUMBER], whatsappCloud, twilio: undefined };

const secondsAgo = (age: number): string => String(Math.floor(Date.now() / 1000) - age);

const said = (n: number, names: Members, profile: Members = { name: 'Vic' }, age = 0): string => {
  const { from: wa_id, from_user_id: user_id } = names;
  const timestamp = secondsAgo(age);
  const text = { type: 'text', text: { body: `message ${n}` } };
  return eventOf(
    changeOf({
      contacts: [{ profile, wa_id, user_id }],
      messages: [{ ...names, id: wamid(n), timestamp, ...text }],
    }),
  );
};

async function told(...events: readonly string[]) {
  const { platform, gateway } = await scene({ sms });
  for (const [n, event] of events.entries()) {
    expect(await postEvent(gateway.httpUrl, event)).toMatchObject({ status: 200 });
    await waitFor('the message', () => platform.messages.length === n + 1);
  }
  return platform;
}

test('who hides the number goes on in the same conversation, as the same contact', async () => {
  const { messages, payloads } = await told(...requestsOf('W4.json'));
  expect(messages[1]?.conversation_id).toBe(messages[0]?.conversation_id);
  expect(messages[1]?.contact_id).toBe(messages[0]?.contact_id);
  expect(payloads[1]?.contact).toEqual({ phone: '+14155557777', name: 'Vic' });
});

test('both forms of a number are one contact, each as it came', async () => {
  const { messages, payloads } = await told(...requestsOf('W7.json'));
  expect(messages[1]?.conversation_id).toBe(messages[0]?.conversation_id);
  expect(messages[1]?.contact_id).toBe(messages[0]?.contact_id);
  expect(payloads.map(({ contact }) => contact.phone)).toEqual(['+5511987654399', '+551187654399']);
});

test('a number that was given up goes to another person without conversation and contact', async () => {
  const left = { type: 'user_changed_number', body: 'changed', wa_id: '14155558888' };
  const notice = { id: wamid(9), type: 'system', timestamp: secondsAgo(60) };
  const system = { ...left, user_id: 'US.778', previous_user_id: 'US.777' };
  const changed = eventOf(changeOf({ messages: [{ ...notice, from: '14155557777', system }] }));
  const { platform, gateway } = await scene({ sms });
  const names = { from: '14155557777', from_user_id: 'US.777' };
  await postEvent(gateway.httpUrl, said(1, names, { name: 'Vic' }, 120));
  await waitFor('the first', () => platform.messages.length === 1);
  await postEvent(gateway.httpUrl, changed);
  await postEvent(
    gateway.httpUrl,
    said(2, { from: '14155557777', from_user_id: 'US.888' }, { name: 'Wim' }),
  );
  await waitFor('the second', () => platform.messages.length === 2);
  await postEvent(gateway.httpUrl, said(3, { from: '14155558888', from_user_id: 'US.778' }));
  await waitFor('the third', () => platform.messages.length === 3);
  const [first, second, third] = platform.messages;
  expect(third?.conversation_id).toBe(first?.conversation_id);
  expect(second?.conversation_id).not.toBe(first?.conversation_id);
  expect(second?.contact_id).not.toBe(first?.contact_id);
  expect(platform.payloads[1]?.contact).toEqual({ name: 'Wim' });
});

test('the contacts of two names become the older one, with both tickets, once a message has both', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const gateway = await startGateway({ dataDir: dir.path, sms });
  ends(() => gateway.stop());
  const rows = <Row>(sql: string): Row[] => {
    const db = new Sqlite(join(dir.path, 'platform', 'platform.sqlite'), { readonly: true });
    try {
      return db.prepare<[], Row>(sql).all();
    } finally {
      db.close();
    }
  };
  const stored = (n: number) =>
    waitFor(
      `message ${n}`,
      () => rows(`SELECT 1 FROM messages WHERE content = 'message ${n}'`).length === 1,
    );
  const contacts = () =>
    rows<{ id: string; phone: string | null }>('SELECT id, phone FROM contacts ORDER BY seq');
  await postEvent(gateway.httpUrl, said(1, { from_user_id: 'US.777' }));
  await stored(1);
  await postEvent(gateway.httpUrl, said(2, { from: '14155557777' }));
  await stored(2);
  const [older] = contacts();
  expect(contacts().map(({ phone }) => phone)).toEqual([null, '+14155557777']);
  await postEvent(gateway.httpUrl, said(3, { from: '14155557777', from_user_id: 'US.777' }));
  await stored(3);
  expect(contacts()).toEqual([{ id: older?.id, phone: '+14155557777' }]);
  const tickets = rows<{ contact_id: string }>('SELECT contact_id FROM tickets');
  expect(tickets).toEqual([{ contact_id: older?.id }, { contact_id: older?.id }]);
  const conversations = rows<{ id: string }>(
    `SELECT DISTINCT conversation_id AS id FROM messages WHERE content IN ('message 1', 'message 3')`,
  );
  expect(conversations).toHaveLength(1);

  // Under any name, the person is exported with the others, and erased.
  await delivered(dir.path, 3);
  for (const address of ['US.777', '+14155557777']) {
    const output = join(dir.path, `${address}.zip`);
    const args = ['--address', address, '--output', output];
    expect(await command(dir.path, 'export', ...args)).toMatchObject({ code: 0 });
    const archive = await zipContents(output);
    const records = (path: string): unknown => JSON.parse(archive.get(path)?.toString() ?? '');
    const names = records('names.json') as { name: string; beside: string | null }[];
    expect(names).toContainEqual(expect.objectContaining({ name: 'US.777', shop: 'acme' }));
    expect(names).toContainEqual(
      expect.objectContaining({ name: '+14155557777', beside: 'US.777' }),
    );
    expect(records('platform/contacts.json')).toMatchObject([{ id: older?.id }]);
    const entries = [...archive.keys()].filter((path) => path.endsWith('/entry.json'));
    expect(entries).toHaveLength(3);
    rmSync(output);
  }
  const erased = await command(dir.path, 'erase', '--address', 'US.777', '--yes', '--json');
  expect(erased).toMatchObject({ code: 0, err: '' });
  expect(contacts()).toEqual([]);
  for (const name of ['14155557777', 'US.777']) expect(filesWith(dir.path, name)).toEqual([]);
});
