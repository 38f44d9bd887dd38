import { expect, test } from '@jest/globals';
import { allArrived, faultsOf } from '../support/arrivals.ts';
import { type Accepted, customerNumber, sendText } from '../support/customers.ts';
import { answered } from '../support/platform-model-server.ts';
import { sharedScene } from '../support/shared-scene.ts';
import type { SceneShop } from '../support/shops-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const LANES = 12;
/** By itself a stopped shop is probed after up to 25 s. */
const AT_ONCE_MS = 8_000;

/** One shop of `sluice shops --json`. */
interface ListedShop {
  readonly shop: string;
  readonly messages: {
    readonly state: string;
    /** Why it is stopped, since when, and when it is tried next; not there for one that is not. */
    readonly reason?: string;
    readonly since?: string;
    readonly nextTryAt?: string;
  };
}

const scene = sharedScene({ shops: { well: {}, tried: {}, retried: {} } });

const sendTexts = (shop: SceneShop, text: string): Promise<Accepted[]> =>
  Promise.all(
    Array.from({ length: LANES }, (_none, n) =>
      sendText(scene(), shop, customerNumber(n), `${text} ${n}`),
    ),
  );

async function listedShops(): Promise<ReadonlyMap<string, ListedShop>> {
  const { code, out, err } = await scene().command('shops', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  // The test reads what docs/json.md is to describe.
  const shops = JSON.parse(out) as readonly ListedShop[];
  return new Map(shops.map((shop) => [shop.shop, shop]));
}

/** Lets a shop deliver, and then its key be refused until it is stopped. */
async function stopped(
  shop: SceneShop,
): Promise<{ shown: ListedShop['messages']; accepted: Accepted[] }> {
  const before = await sendTexts(shop, 'before');
  await allArrived(before);
  shop.platform.gate = () => answered(401, '{"detail":"This key was withdrawn"}');
  const waiting = await sendTexts(shop, 'waiting');
  const shown = await waitFor(
    'the shop to be stopped',
    async () => {
      const listed = (await listedShops()).get(shop.name);
      return listed?.messages.reason !== undefined && listed;
    },
    250,
  );
  return { shown: shown.messages, accepted: [...before, ...waiting] };
}

/** Whether the platform heard of the shop while a command ran. */
async function isAskedDuring(shop: SceneShop, command: () => Promise<unknown>): Promise<boolean> {
  const before = shop.platform.received.length;
  await command();
  return shop.platform.received.length > before;
}

test.concurrent('shops shows why a shop is stopped, and shops try probes it at once', async () => {
  const { tried: shop, well } = scene().shops;
  await allArrived(await sendTexts(well, 'well'));
  const startedAt = Date.now();
  const { shown, accepted } = await stopped(shop);
  expect(shown.reason).toMatch(/401|This key was withdrawn/);
  const since = Date.parse(shown.since ?? '');
  expect(since).toBeGreaterThanOrEqual(startedAt);
  expect(since).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(shown.nextTryAt ?? '')).toBeLessThanOrEqual(Date.now() + 30_000);
  const other = (await listedShops()).get('well')?.messages;
  expect(other).not.toHaveProperty('reason');
  expect(other).not.toHaveProperty('nextTryAt');

  let told = '';
  const tryIt = async (): Promise<number> => {
    const { code, out, err } = await scene().command('shops', 'try', shop.name);
    told = out + err;
    return code;
  };
  expect(await isAskedDuring(shop, tryIt)).toBe(true);
  expect(told).toMatch(/401|This key was withdrawn/);

  shop.platform.gate = (_received, platform) => platform();
  expect(await tryIt()).toBe(0);
  await allArrived(accepted, AT_ONCE_MS);
  expect(faultsOf(accepted)).toEqual([]);
  expect((await listedShops()).get(shop.name)?.messages.state).toBe(other?.state);
});

test.concurrent('queue retry probes a stopped shop at once, and the others follow', async () => {
  const { retried: shop } = scene().shops;
  const { accepted } = await stopped(shop);
  const entries = await scene().entries(shop);
  const waiting = entries.find(({ state }) => state === 'queued');
  shop.platform.gate = (_received, platform) => platform();
  const { code, out } = await scene().command('queue', 'retry', waiting?.id ?? 'none is queued');
  // The shop's own probe may have come first.
  expect(code === 0 ? '' : out).toMatch(
    /^$|is deliver(ing|ed); retry is for|its state has changed/,
  );
  await allArrived(accepted, AT_ONCE_MS);
  expect(faultsOf(accepted)).toEqual([]);
});
