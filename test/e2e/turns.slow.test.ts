import { expect, test } from '@jest/globals';
import { customerNumber, sendText } from '../support/customers.ts';
import { sharedScene } from '../support/shared-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const BACKLOG = 400;
const LANES = 100;
const LOOKED_AT = 300;
const SENDERS = 8;

const scene = sharedScene({
  shops: { one: { latencyMs: [50, 50] }, two: {}, three: {} },
  onePlatform: true,
  delivery: { paused: true, concurrency: 16 },
});

test('three shops with a backlog each get a third of what the platform takes', async () => {
  const { all, shops } = scene();
  const { model } = shops.one.platform;
  const waiting = all.flatMap((shop) =>
    Array.from({ length: BACKLOG }, (_none, n) => ({ shop, n })),
  );
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { shop, n } = next;
        await sendText(scene(), shop, customerNumber(n % LANES), `text ${n}`);
      }
    }),
  );
  expect(model.posts).toEqual([]);

  scene().reload({ paused: false });
  const first = await waitFor(
    'the first of them',
    () => model.posts.length >= LOOKED_AT && model.posts.slice(0, LOOKED_AT),
    20,
  );
  const shares = all.map(({ shopId }) => first.filter((post) => post.shopId === shopId).length);
  console.log(`of the first ${LOOKED_AT}: ${shares.join(', ')}`);
  expect(shares.filter((share) => share < 80 || share > 120)).toEqual([]);
});
