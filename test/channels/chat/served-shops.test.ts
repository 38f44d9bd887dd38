import { afterEach, expect, test } from '@jest/globals';
import { ConnectRefused } from '../../support/chat-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, otherShop, ROOMY } from './chat-gateway.ts';

let gateway: ChatGateway;
afterEach(() => gateway.stop());

/** What a client is told that is not let in. */
async function refusal(auth: Record<string, unknown>, origin?: string): Promise<unknown> {
  try {
    await gateway.connect({ auth, ...(origin !== undefined && { origin }) });
    return 'let in';
  } catch (error) {
    if (!(error instanceof ConnectRefused)) throw error;
    return error.data.code ?? error.message;
  }
}

test('tabs of a shop that changed stay, and go by the new rules', async () => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })] });
  const tab = await gateway.connect();
  expect(await tab.send('before')).toMatchObject({ ok: true });
  gateway.server.serve([
    aShop({ allowNoOrigin: false, limits: { ...ROOMY, messagesPer10s: 1 } }),
    otherShop(),
  ]);
  expect(await tab.send('after')).toMatchObject({ ok: true });
  expect(await tab.send('too many')).toMatchObject({ ok: false, error: 'rate_limited' });
  expect(tab.disconnects).toEqual([]);
  expect(await refusal({ key: 'demo' })).toBe('origin');
  expect(await refusal({ key: 'other' }, 'https://other.example')).toBe('let in');
});

test('what was counted of a visitor stays when other things of his shop change', async () => {
  const limits = { ...ROOMY, messagesPer10s: 2 };
  gateway = await ChatGateway.start({ shops: [aShop({ limits })] });
  const tab = await gateway.connect();
  await tab.send('one');
  gateway.server.serve([aShop({ limits: { ...limits }, origins: [] })]);
  expect(await tab.send('two')).toMatchObject({ ok: true });
  expect(await tab.send('three')).toMatchObject({ error: 'rate_limited' });
});

test('tabs of a shop that is gone are closed, told so, and let in when it is back', async () => {
  gateway = await ChatGateway.start({ shops: [aShop(), otherShop()] });
  const origin = 'https://other.example';
  const gone = await gateway.connect({ auth: { key: 'other' }, origin });
  const stays = await gateway.connect();
  expect(await gone.send('kept')).toMatchObject({ ok: true });
  gateway.server.serve([aShop()]);
  await waitFor('the tab to be closed', () => gone.disconnects.length === 1);
  // In words: a page learns nothing of a connection that is refused before the handshake.
  expect(await refusal({ key: 'other' }, origin)).toBe('unknown_key');
  expect(await gone.upload({ name: 'a.txt', bytes: Buffer.from('a') })).toMatchObject({
    status: 401,
  });
  expect(stays.disconnects).toEqual([]);
  gateway.server.serve([aShop(), otherShop()]);
  const back = await gateway.connect({
    auth: { key: 'other', token: gone.session.token },
    origin,
  });
  await waitFor('the record', () => back.texts.length === 1);
  expect(back.texts).toEqual(['kept']);
});

test('a gateway without a chat begins with the first one', async () => {
  gateway = await ChatGateway.start({ shops: [] });
  await expect(gateway.connect()).rejects.toThrow();
  gateway.server.serve([aShop()]);
  expect(await refusal({ key: 'demo' })).toBe('let in');
});
