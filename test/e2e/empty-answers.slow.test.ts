import { expect, test } from '@jest/globals';
import { allArrived, faultsOf } from '../support/arrivals.ts';
import {
  type Accepted,
  customerNumber,
  MailSession,
  sendText,
  Visitor,
} from '../support/customers.ts';
import { answered, type Gate } from '../support/platform-model-server.ts';
import { sharedScene } from '../support/shared-scene.ts';
import type { ListedEntry, SceneShop } from '../support/shops-scene.ts';
import { waitForEntries } from '../support/spool-beside.ts';

const scene = sharedScene({
  shops: {
    proxied: {},
    // Two messages of one id are two messages there.
    silent: { newMessageAnswer: 'empty', duplicateAnswer: 'empty', dedup: 'none' },
    listing: { dedup: 'none' },
    storing_nothing: {},
    forgetful: {},
    hiding: { keepsRemoteId: false },
  },
});

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_none, n) => make(n));

const sendTexts = (shop: SceneShop, count: number, from = 0): Promise<Accepted[]> =>
  Promise.all(
    times(count, (n) => sendText(scene(), shop, customerNumber(from + n), `text ${from + n}`)),
  );

/** The entries of a shop, once none of them is queued or on its way. */
async function settledEntries(shop: SceneShop): Promise<readonly ListedEntry[]> {
  await waitForEntries(
    scene().dataDir,
    'the entries to be settled',
    (entries) =>
      entries.every(
        ({ shopId, state }) => shopId !== shop.shopId || !['queued', 'delivering'].includes(state),
      ),
    250,
  );
  return scene().entries(shop);
}

const statesOf = (entries: readonly ListedEntry[]): readonly string[] => [
  ...new Set(entries.map(({ state }) => state)),
];

/** Lets a proxy answer the first requests for each message with an empty 200. */
const emptyAtFirst =
  (count: number, isAsked: boolean): Gate =>
  (received, platform) => {
    if (received.call !== 'POST /messages/') return platform();
    const { received: all } = shopOf(received.shopId).platform;
    const before = all.filter(
      (each) => each !== received && each.remoteId === received.remoteId,
    ).length;
    if (before >= count) return platform();
    if (isAsked) platform();
    return answered(200);
  };

function shopOf(shopId: string): SceneShop {
  const shop = scene().all.find((each) => each.shopId === shopId);
  if (shop === undefined) throw new Error('a request of a shop that is not in the scene');
  return shop;
}

test.concurrent('an empty 200 from a platform that answers with messages is a proxy: nothing is lost, nothing comes twice', async () => {
  const { proxied: shop } = scene().shops;
  const before = await sendTexts(shop, 3);
  await allArrived(before);
  const unasked = emptyAtFirst(1, false);
  const asked = emptyAtFirst(1, true);
  shop.platform.gate = (received, platform) => {
    const isOdd = /[13579]$/.test(contentOf(received.body));
    return (isOdd ? unasked : asked)(received, platform);
  };
  const during = await sendTexts(shop, 6, 10);
  const mail = await MailSession.open(scene());
  for (let n = 0; n < 6; n += 1) {
    const from = `ann${n}@example.com`;
    during.push(await mail.send(shop, { from, content: `email ${n}` }));
  }
  mail.close();
  await allArrived(during);
  expect(statesOf(await settledEntries(shop))).toEqual(['delivered']);
  expect(faultsOf([...before, ...during])).toEqual([]);
});

test.concurrent('a platform whose every answer is an empty 2xx gets each message once', async () => {
  await isGivenEachOnce(scene().shops.silent);
});

test.concurrent('a platform whose every answer is a list of numbers gets each message once', async () => {
  const { listing: shop } = scene().shops;
  shop.platform.gate = (received, platform) => {
    const answer = platform();
    return received.call === 'POST /messages/' ? answered(201, '[1,2]') : answer;
  };
  await isGivenEachOnce(shop);
});

test.concurrent('what a platform answers with an empty 2xx and never has is held, with an alarm', async () => {
  const { storing_nothing: shop } = scene().shops;
  shop.platform.gate = ({ call }, platform) =>
    call === 'POST /messages/' ? answered(200) : platform();
  await sendTexts(shop, 3);
  const entries = await settledEntries(shop);
  expect(statesOf(entries)).toEqual(['held']);
  for (const { reason } of entries) expect(reason).toMatch(/\S/);
  // No other test of this file gives cause for one.
  expect(await scene().alarms()).toBeGreaterThan(0);
});

test.concurrent("a visitor's first message that a proxy swallows twice is lost by neither, and begins one conversation", async () => {
  await isOneConversation(scene().shops.forgetful, emptyAtFirst(2, false));
});

test.concurrent("a visitor's first message that is stored behind two empty answers begins one conversation", async () => {
  await isOneConversation(scene().shops.hiding, emptyAtFirst(2, true));
});

async function isGivenEachOnce(shop: SceneShop): Promise<void> {
  const mail = await MailSession.open(scene());
  const visitor = await Visitor.open(scene(), shop);
  const accepted = await sendTexts(shop, 5);
  for (let n = 0; n < 2; n += 1) {
    accepted.push(await mail.send(shop, { from: 'ann@example.com', content: `email ${n}` }));
    accepted.push(await visitor.send(`line ${n}`));
  }
  mail.close();
  visitor.close();
  await allArrived(accepted);
  expect(statesOf(await settledEntries(shop))).toEqual(['delivered']);
  expect(faultsOf(accepted)).toEqual([]);
}

async function isOneConversation(shop: SceneShop, gate: Gate): Promise<void> {
  shop.platform.gate = gate;
  const visitor = await Visitor.open(scene(), shop);
  const first = await visitor.send('first');
  const second = await visitor.send('second');
  visitor.close();
  await allArrived([first, second]);
  expect(statesOf(await settledEntries(shop))).toEqual(['delivered']);
  expect(faultsOf([first, second])).toEqual([]);
  expect(shop.platform.model.conversations(shop.shopId)).toHaveLength(1);
}

function contentOf(body: unknown): string {
  // Of a create-message request; anything else has no content that a test looks for.
  const { message } = (body ?? {}) as { message?: { content?: string } };
  return message?.content ?? '';
}
