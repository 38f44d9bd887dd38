import { Agent, get } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { AuditPage, DoctorReport, EntryList } from '../../../src/console/contract.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ends } from '../../support/ends.ts';
import { PlatformFront } from '../../support/platform-front.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { auditOf, consoleScene, sharedConsole } from './console-scene.ts';

const shared = sharedConsole();

describe('test messages', () => {
  test('go through the door of each channel, as a customer would', async () => {
    const { operator } = await consoleScene();
    for (const channel of ['email', 'sms', 'web_chat']) {
      const answer = await operator.post('/api/test-message', { shop: 'acme', channel });
      expect({ channel, status: answer.status }).toEqual({ channel, status: 200 });
      // It leads to the entry at once, whatever the search has heard of.
      const { id } = answer.body as { id: string };
      const entry = await operator.get(`/api/entries/${id}`);
      expect(entry).toMatchObject({ status: 200, body: { id, channel, shop: 'acme' } });
    }
    await waitFor(
      'their delivery',
      async () => {
        const { entries } = (await operator.get('/api/entries?state=delivered')).body as EntryList;
        return new Set(entries.map(({ channel }) => channel)).size === 3;
      },
      50,
    );
    const { lines } = await auditOf(operator);
    const tests = lines.filter(({ action }) => action === 'test_message');
    expect(tests.map(({ target, outcome }) => [target, outcome])).toEqual([
      ['acme', 'web_chat'],
      ['acme', 'sms'],
      ['acme', 'email'],
    ]);
  });

  test('say why they could not be sent', async () => {
    const { operator } = await shared();
    const answer = await operator.post('/api/test-message', { shop: 'nobody', channel: 'sms' });
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'unavailable', message: 'There is no such shop' },
    });
  });
});

describe("the platform's own", () => {
  test('tickets, conversations, contacts and messages are shown as it has them', async () => {
    const { gateway, operator } = await consoleScene();
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('p'), Body: 'Where is order 1001?' });
    await waitFor(
      'the delivery',
      async () =>
        ((await operator.get('/api/entries?state=delivered')).body as EntryList).entries[0],
      50,
    );
    const results = async (what: string) => {
      const { status, body } = await operator.get(`/api/platform/acme/${what}`);
      expect({ what, status }).toEqual({ what, status: 200 });
      return (body as { results: Record<string, unknown>[] }).results;
    };
    const [message] = await results('messages?limit=1');
    const id = String(message?.['conversation_id']);
    expect(await results(`tickets?conversation_id=${id}&limit=5`)).toHaveLength(1);
    expect(await results('contacts?limit=5')).toHaveLength(1);
    expect(await results('conversations')).toMatchObject([{ id }]);
    expect(await results(`conversations?id=${id}`)).toMatchObject([{ id }]);
    const one = await operator.get(`/api/platform/acme/conversations/${id}`);
    expect(one.body).toMatchObject({ id });
    const gone = '00000000-0000-4000-8000-000000000000';
    expect(await results(`conversations?id=${gone}`)).toEqual([]);
    for (const what of ['tickets', 'conversations', 'contacts', 'messages']) {
      const answer = await operator.get(`/api/platform/acme/${what}/${gone}`);
      expect({ what, ...answer }).toMatchObject({
        ...{ what, status: 404 },
        body: { code: 'not_found' },
      });
    }
    for (const id of ['..%2fcontacts', 'a%3fb', 'x'.repeat(200), '%0a']) {
      const answer = await operator.get(`/api/platform/acme/tickets/${id}`);
      expect({ id, status: answer.status }).toEqual({ id, status: 400 });
    }
    const written = await operator.post('/api/platform/acme/messages', {});
    expect(written.status).toBe(404);
  });

  test('is asked again and again over one connection', async () => {
    const { operator } = await shared();
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on('warning', onWarning);
    ends(() => process.off('warning', onWarning));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ends(() => agent.destroy());
    for (let times = 0; times < 15; times += 1) {
      const status = await new Promise((resolve, reject) => {
        get(`${operator.url}/api/platform/acme/tickets`, {
          ...{ agent, headers: { cookie: operator.cookie } },
        })
          .on('error', reject)
          .on('response', (answer) => {
            answer.resume().on('end', () => resolve(answer.statusCode));
          });
      });
      expect(status).toBe(200);
    }
    await nextTurn();
    expect(warnings).toEqual([]);
  });

  test('trouble is told with its status, and no key', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const platform = new PlatformFront({ dir: dir.path });
    ends(() => platform.stop());
    await platform.start();
    platform.faults = () => ({ kind: 'status', status: 503, body: 'down' });
    const { operator } = await consoleScene({ platformUrl: platform.url });
    const answer = await operator.get('/api/platform/acme/tickets');
    expect(answer).toMatchObject({ status: 502, body: { code: 'unavailable' } });
    expect(answer.text).toContain('503');
    expect(answer.text).not.toContain('key-of-acme');
    await platform.stop();
    const silent = await operator.get('/api/platform/acme/tickets');
    expect(silent).toMatchObject({ status: 502, body: { code: 'unavailable' } });
  });
});

test('the configuration is shown without secrets, and can be taken up again', async () => {
  const { operator } = await shared();
  const view = await operator.get('/api/configuration');
  expect(view.status).toBe(200);
  expect(view.text).not.toMatch(/of-the-console|key-of-acme/);
  const reload = await operator.post('/api/configuration/reload');
  expect(reload).toMatchObject({ status: 200, body: { ok: expect.any(Boolean) } });
});

test('the doctor looks, once for all who ask together', async () => {
  const { operator } = await shared();
  const [one, other] = await Promise.all([
    operator.get('/api/doctor'),
    operator.get('/api/doctor'),
  ]);
  expect(one.status).toBe(200);
  expect(other.text).toBe(one.text);
  const { checks } = one.body as DoctorReport;
  expect(checks.find(({ check }) => check.startsWith('platform'))?.status).toBe('ok');
  expect(one.text).not.toMatch(/of-the-console|key-of-acme/);
});

test('the audit is read page by page', async () => {
  const { operator } = await consoleScene();
  for (let times = 0; times < 5; times += 1) {
    await operator.post('/api/test-message', { shop: 'nobody', channel: 'sms' });
  }
  const numbers: number[] = [];
  let next: number | undefined;
  do {
    const query = next === undefined ? '' : `&before=${next}`;
    const page = (await operator.get(`/api/audit?limit=2${query}`)).body as AuditPage;
    numbers.push(...page.lines.map(({ no }) => no));
    next = page.next;
  } while (next !== undefined);
  expect(numbers).toEqual([6, 5, 4, 3, 2, 1]);
});
