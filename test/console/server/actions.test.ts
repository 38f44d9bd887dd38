import { describe, expect, test } from '@jest/globals';
import type { ActionProgress, EntryDetail, EntryList } from '../../../src/console/contract.ts';
import { OUR_NUMBER } from '../../support/twilio-stand-in.ts';
import { ends } from '../../support/ends.ts';
import { PlatformFront } from '../../support/platform-front.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { ConsoleClient } from './console-client.ts';
import { consoleClient } from './console-client.ts';
import { auditOf, consoleScene, PASSWORD } from './console-scene.ts';
import { EventStream } from './event-stream.ts';

const MANY = 500;

const found = async (operator: ConsoleClient, query: string): Promise<EntryList> =>
  (await operator.get(`/api/entries?${query}`)).body as EntryList;
const countOf = async (operator: ConsoleClient, query: string): Promise<number | undefined> =>
  (await found(operator, `${query}&count=1`)).total?.count;

/** Begins an action and resolves when it is over. */
async function acted(operator: ConsoleClient, body: object): Promise<ActionProgress> {
  const begun = await operator.post('/api/actions', body);
  expect(begun.status).toBe(202);
  return over(operator, (begun.body as ActionProgress).id);
}

async function undone(operator: ConsoleClient, id: string): Promise<ActionProgress> {
  expect((await operator.post(`/api/actions/${id}/undo`)).status).toBe(202);
  return over(operator, id);
}

const over = (operator: ConsoleClient, id: string): Promise<ActionProgress> =>
  waitFor(
    'the action',
    async () => {
      const progress = (await operator.get(`/api/actions/${id}`)).body as ActionProgress;
      return progress.finished && progress;
    },
    50,
  );

/** Texts, each of a person of its own, so that none waits for another. */
async function texts(httpUrl: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - from) }, (_, index) =>
        sendSms(httpUrl, {
          MessageSid: sidOf(`text ${from + index}`),
          From: `+1202555${String(1000 + from + index)}`,
          To: OUR_NUMBER,
          Body: `Text ${from + index}`,
        }),
      ),
    );
  }
}

describe('five hundred at once', () => {
  test('are discarded with progress, and taken back', async () => {
    const { gateway, operator } = await consoleScene({ paused: true });
    await texts(gateway.httpUrl, MANY);
    const stream = new EventStream(operator);
    await waitFor('the stream', () => stream.events.length > 0, 50);

    const filter = { state: 'queued', channel: 'sms', shop: 'acme' };
    const discarded = await acted(operator, { action: 'discard', filter });
    expect(discarded).toMatchObject({
      ...{ action: 'discard', total: MANY, done: MANY, changed: MANY },
      ...{ refused: [], finished: true, canUndo: true, undone: false },
    });
    await waitFor(
      'the list',
      async () => (await countOf(operator, 'state=discarded')) === MANY,
      50,
    );
    const told = await waitFor(
      'the end in the stream',
      () => stream.of<ActionProgress>('action').filter(({ id }) => id === discarded.id),
      50,
    );
    await waitFor('the last', () => stream.of<ActionProgress>('action').at(-1)?.finished, 50);
    expect(told.length).toBeGreaterThan(0);

    const back = await undone(operator, discarded.id);
    expect(back).toMatchObject({ total: MANY, changed: MANY, undone: true, canUndo: false });
    await waitFor(
      'the list again',
      async () => (await countOf(operator, 'state=queued')) === MANY,
      50,
    );
    const again = await operator.post(`/api/actions/${discarded.id}/undo`);
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });

    const lines = await waitFor(
      'the audit',
      async () => {
        const page = await auditOf(operator);
        const own = page.lines.filter(({ action }) => action === 'discard');
        return own.length === 3 && own;
      },
      50,
    );
    expect(lines.map(({ target, outcome }) => [target, outcome])).toEqual([
      ['500 entries', 'undone, 500 of 500 changed'],
      ['500 entries', '500 of 500 changed'],
      ['500 entries', 'started'],
    ]);
  });

  test('end cleanly when the gateway stops in the middle', async () => {
    const { gateway, operator, dataDir } = await consoleScene({ paused: true });
    await texts(gateway.httpUrl, MANY);
    const begun = await operator.post('/api/actions', { action: 'discard', filter: {} });
    expect(begun.status).toBe(202);
    await gateway.stop();

    const again = await startGateway({ dataDir, paused: true });
    ends(() => again.stop());
    const later = consoleClient(again.adminUrl);
    await later.signIn(PASSWORD);
    const [last, started] = (await auditOf(later)).lines.filter(
      ({ action }) => action === 'discard',
    );
    expect(started?.outcome).toBe('started');
    const [, changed] = /(\d+)(?: of \d+)? changed$/.exec(last?.outcome ?? '') ?? [];
    // What the audit tells is what the spool has, once the list has caught up.
    await waitFor(
      'the list',
      async () => (await countOf(later, 'state=discarded')) === Number(changed),
      50,
    );
    await waitFor(
      'the rest',
      async () => (await countOf(later, 'state=queued')) === MANY - Number(changed),
      50,
    );
    const gone = await later.get(`/api/actions/${(begun.body as ActionProgress).id}`);
    expect(gone.status).toBe(404);
  });
});

describe('many actions', () => {
  test('that begin at once are no more than there is room for', async () => {
    const { gateway, operator } = await consoleScene({ paused: true });
    await texts(gateway.httpUrl, 50);
    const body = { action: 'discard', filter: { state: 'queued' } };
    const begun = await Promise.all(
      Array.from({ length: 12 }, () => operator.post('/api/actions', body)),
    );
    const taken = begun.filter(({ status }) => status === 202);
    const refused = begun.filter(({ status }) => status === 503);
    expect(taken.length + refused.length).toBe(12);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    const ended = await Promise.all(
      taken.map((answer) => over(operator, (answer.body as ActionProgress).id)),
    );
    // Each entry was changed by one of them, and each other one was told why not.
    expect(ended.reduce((sum, { changed }) => sum + changed, 0)).toBe(50);
  });

  test('one right after the other find what the one before has left', async () => {
    const { gateway, operator } = await consoleScene({ paused: true });
    await texts(gateway.httpUrl, 100);
    const all = (action: string, state: string) =>
      acted(operator, { action, filter: { state, channel: 'sms' } });
    expect(await all('discard', 'queued')).toMatchObject({ total: 100, changed: 100 });
    expect(await countOf(operator, 'state=discarded')).toBe(100);
    expect(await all('restore', 'discarded')).toMatchObject({ total: 100, changed: 100 });
    expect(await all('discard', 'queued')).toMatchObject({ total: 100, changed: 100 });
    expect(await countOf(operator, 'state=queued&shop=acme')).toBe(0);
  });
});

describe('one', () => {
  test('that is held is released and delivered', async () => {
    const { gateway, operator } = await consoleScene();
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('code'), From: '12345', Body: 'Code 1' });
    const held = await waitFor(
      'the held one',
      async () => (await found(operator, 'state=held')).entries[0],
      50,
    );
    expect(held).toMatchObject({ reason: 'short_code', reasonCode: 'short_code' });
    const wrong = await acted(operator, { action: 'retry', ids: [held.id] });
    expect(wrong).toMatchObject({ changed: 0, refused: [{ why: 'it is held', count: 1 }] });
    const released = await acted(operator, { action: 'release', ids: [held.id, held.id] });
    expect(released).toMatchObject({ total: 1, changed: 1, refused: [] });
    const told = await waitFor(
      'its delivery',
      async () => {
        const one = (await operator.get(`/api/entries/${held.id}`)).body as EntryDetail;
        return one.state === 'delivered' && one;
      },
      50,
    );
    expect(told.classification).toEqual({
      verdict: 'deliver',
      reason: 'released by an operator',
    });
    expect(told.timeline.map(({ attempt }) => attempt)).toEqual(
      expect.arrayContaining([undefined, 1, 2]),
    );
    // Too late: an attempt has started.
    const late = await undone(operator, released.id);
    expect(late).toMatchObject({ changed: 0, undone: true });
    expect(late.refused).toEqual([{ why: 'an attempt has started', count: 1 }]);
  });

  test('that is dead is put right and retried', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const platform = new PlatformFront({ dir: dir.path });
    ends(() => platform.stop());
    await platform.start();
    let refuses = true;
    platform.faults = ({ method }) =>
      refuses && method === 'POST'
        ? { kind: 'status', status: 400, body: '{"error": "no"}' }
        : undefined;
    const { gateway, operator } = await consoleScene({ platformUrl: platform.url });
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('dead'), Body: 'Hello' });
    const dead = await waitFor(
      'the dead one',
      async () => (await found(operator, 'state=dead')).entries[0],
      50,
    );
    refuses = false;
    expect(await acted(operator, { action: 'retry', ids: [dead.id] })).toMatchObject({
      changed: 1,
      canUndo: true,
    });
    await waitFor(
      'its delivery',
      async () => (await found(operator, 'state=delivered')).entries[0]?.id === dead.id,
      50,
    );
    const { lines } = await auditOf(operator);
    expect(lines.find(({ action }) => action === 'retry')).toMatchObject({
      ...{ who: 'operator', target: dead.id, outcome: 'ok' },
    });
  });

  test('that was discarded is restored to where it was, with its reason', async () => {
    const { gateway, operator } = await consoleScene();
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('h'), From: '12345', Body: 'Code 2' });
    const held = await waitFor(
      'the held one',
      async () => (await found(operator, 'state=held')).entries[0],
      50,
    );
    const discarded = await acted(operator, { action: 'discard', ids: [held.id] });
    expect(discarded.changed).toBe(1);
    const restored = await acted(operator, { action: 'restore', ids: [held.id] });
    expect(restored).toMatchObject({ changed: 1, canUndo: false });
    expect((await found(operator, 'state=held')).entries[0]).toMatchObject({
      ...{ id: held.id, reason: 'short_code' },
    });
  });

  test('that does not exist is told', async () => {
    const { operator } = await consoleScene();
    expect(await acted(operator, { action: 'discard', ids: ['none'] })).toMatchObject({
      ...{ total: 1, done: 1, changed: 0, canUndo: false },
      refused: [{ why: 'the entry does not exist', count: 1 }],
    });
  });
});
