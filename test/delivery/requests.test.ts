import { expect, test } from '@jest/globals';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { Requests } from '../../src/delivery/requests.ts';
import { SHOP } from '../support/entries.ts';

function setting() {
  const stop = new AbortController();
  const client = new PlatformClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', shopId: SHOP });
  const requests = new Requests(client, stop.signal, {
    once: false,
    confirmLease: () => Promise.resolve(),
  });
  return { requests, stop };
}

test('an answer that comes while the attempt is aborted is not lost', async () => {
  const { requests, stop } = setting();
  const asked = requests.call('messages', () => {
    stop.abort(new Error('the lease has ended'));
    return Promise.resolve('created');
  });
  expect(await asked).toBe('created');
});

test('nothing is asked once the attempt is aborted', async () => {
  const { requests, stop } = setting();
  stop.abort(new Error('the lease has ended'));
  let asked = false;
  const asking = requests.call('messages', () => Promise.resolve((asked = true)));
  await expect(asking).rejects.toThrow('the lease has ended');
  expect(asked).toBe(false);
});
