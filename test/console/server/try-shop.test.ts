import { expect, test } from '@jest/globals';
import type { Overview, ShopTrial } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { ConsoleClient } from './console-client.ts';
import { auditOf, consoleScene } from './console-scene.ts';

async function scene() {
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  const { gateway, operator, stranger } = await consoleScene({
    platformUrl: await platform.start(),
  });
  const text = (n: number) =>
    sendSms(gateway.httpUrl, {
      ...{ MessageSid: sidOf(`text ${n}`), From: `+1202555${1000 + n}`, Body: `Text ${n}` },
    });
  return { platform, operator, stranger, text };
}

const shopOf = async (operator: ConsoleClient) =>
  ((await operator.get('/api/overview')).body as Overview).shops[0];

/** Reads worked, and then the key is refused. */
async function stopped({ platform, operator, text }: Awaited<ReturnType<typeof scene>>) {
  await text(0);
  await waitFor('a read', () => platform.of('GET /contacts/').length > 0);
  platform.script = () => ({ status: 401, body: { detail: 'the key has expired' } });
  await text(1);
  return waitFor(
    'it to be stopped',
    async () => {
      const shop = await shopOf(operator);
      return shop?.breakers.some(({ state }) => state !== 'closed') && shop;
    },
    50,
  );
}

const tryAcme = async (operator: ConsoleClient): Promise<ShopTrial> => {
  const { status, body } = await operator.post('/api/shops/acme/try');
  expect(status).toBe(200);
  return body as ShopTrial;
};

test('a shop that is stopped is told with the platform’s words and since when', async () => {
  const shop = await stopped(await scene());
  expect(shop.breakers[0]).toMatchObject({
    ...{ part: 'messages', since: expect.any(Number), nextProbeAt: expect.any(Number) },
    reason: expect.stringContaining('the key has expired'),
  });
  expect(shop.refusedAlike).toEqual([]);
});

test('a try answers with its result, and is in the audit without the platform’s words', async () => {
  const it = await scene();
  await stopped(it);
  const failed = await tryAcme(it.operator);
  expect(failed.parts).toMatchObject([
    { part: 'messages', outcome: 'failed', reason: expect.stringContaining('has expired') },
  ]);
  it.platform.script = () => undefined;
  const [one, other] = await Promise.all([tryAcme(it.operator), tryAcme(it.operator)]);
  expect(one.parts).toEqual([{ part: 'messages', outcome: 'delivered' }]);
  expect(other).toEqual(one);
  const { lines } = await auditOf(it.operator);
  const tried = lines.filter(({ action }) => action === 'try');
  expect(tried.map(({ who, target, outcome }) => `${who} ${target} ${outcome}`)).toEqual([
    'operator acme messages: delivered',
    'operator acme messages: delivered',
    'operator acme messages: failed',
  ]);
});

test('a retry has a shop that is stopped tried at once', async () => {
  const it = await scene();
  await stopped(it);
  it.platform.script = () => undefined;
  const body = { action: 'retry', filter: { state: 'queued' } };
  expect((await it.operator.post('/api/actions', body)).status).toBe(202);
  await waitFor(
    'it to flow',
    async () => (await shopOf(it.operator))?.breakers[0]?.state === 'closed',
    50,
  );
});

test('a shop that is not there, a stranger, and another site are refused', async () => {
  const { operator, stranger } = await scene();
  expect(await operator.post('/api/shops/nobody/try')).toMatchObject({
    ...{ status: 404, body: { code: 'not_found' } },
  });
  expect((await stranger.post('/api/shops/acme/try')).status).toBe(401);
  const foreign = await operator.ask('/api/shops/acme/try', {
    method: 'POST',
    headers: { 'x-sluice-console': undefined },
  });
  expect(foreign.status).toBe(403);
});

test('where delivery is paused nothing is tried, and that is said', async () => {
  const { operator } = await consoleScene({ paused: true });
  expect(await operator.post('/api/shops/acme/try')).toMatchObject({
    ...{ status: 409, body: { code: 'conflict' } },
  });
});
