import { expect, test } from '@jest/globals';
import { deliveryScene, isCreate, message, type Scene } from './scene.ts';
import { SHOP } from '../support/entries.ts';
import { waitFor } from '../support/wait-for.ts';

/** A gateway that is stopped for longer than a lease lasts, just before its first uploads. */
async function stoppedBeforeUpload(meanwhile: (scene: Scene) => Promise<unknown>, stops = 1) {
  const ahead = { ms: 0 };
  const scene = await deliveryScene({ clock: () => Date.now() + ahead.ms });
  // The store has another clock, to which a lease that it gives after the stop would seem to be over.
  const { spool } = scene.store;
  const claim = spool.claim.bind(spool);
  spool.claim = (requests, leaseMs, atMost, expiredBefore = Infinity) =>
    claim(requests, leaseMs, atMost, expiredBefore - ahead.ms);
  const { open } = scene.files;
  let left = stops;
  scene.files.open = async (name) => {
    if (left > 0) {
      left -= 1;
      await meanwhile(scene);
      ahead.ms += 60_000;
    }
    return open(name);
  };
  return scene;
}

test('an entry that another gateway has claimed meanwhile is neither uploaded nor submitted', async () => {
  const scene = await stoppedBeforeUpload(({ store }) =>
    store.spool.claim([{ shopId: SHOP, limit: 1, from: ['untried'] }], 45_000, 1, Infinity),
  );
  await scene.submit(message({ attachments: ['a.txt'] }));
  await waitFor('the lost lease', () =>
    scene.logged.some((line) => line.includes('entry.lease_lost')),
  );
  expect(scene.platform.seen.filter(({ method }) => method === 'POST')).toEqual([]);
});

test('an entry that nobody else has claimed is delivered by the same attempt', async () => {
  const scene = await stoppedBeforeUpload(() => Promise.resolve());
  const entry = message({ attachments: ['a.txt'] });
  const { attempts } = await scene.comesTo(entry, 'delivered');
  expect(attempts).toBe(1);
  expect(scene.platform.seen.filter(isCreate)).toHaveLength(1);
});

test('nothing is submitted while the lease cannot be renewed', async () => {
  const scene = await stoppedBeforeUpload(({ store }) => {
    store.spool.renew = () => Promise.reject(new Error('no connection'));
    return Promise.resolve();
  }, Infinity);
  await scene.submit(message({ attachments: ['a.txt'] }));
  await waitFor('the interruption', () =>
    scene.logged.some((line) => line.includes('entry.attempt_failed')),
  );
  expect(scene.platform.seen.filter(({ method }) => method === 'POST')).toEqual([]);
});
