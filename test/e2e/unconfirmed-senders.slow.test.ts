import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { ACME_SHOP } from '../support/gateway-config.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  answerTo,
  confirmed,
  expectNeutral,
  forged,
  unconfirmedScene,
  via,
  victim,
} from './unconfirmed-scene.ts';

/** The limits that apply without configuration, and many more mails than they are. */
const FORGED = 200;
const SHOP = { ...ACME_SHOP, email: { dmarc: 'observe' } };

async function scene() {
  const made = await unconfirmedScene([SHOP]);
  ends(made.stop);
  return { ...made, answers: () => made.answersOf(SHOP) };
}

test('200 forged mails sent directly: ten answers, one alert, and customers are answered meanwhile', async () => {
  const { send, all, answers, told } = await scene();
  await all(FORGED, (n) => send(forged(SHOP, n)));
  const first = await answers();
  expect(first).toHaveLength(10);
  expectNeutral(first);
  // From the same network: ten who answer our answers, and fifty who are confirmed.
  const next = first.values();
  await all(10, async () => {
    const { value } = next.next();
    if (value !== undefined) await send(answerTo(value, SHOP));
  });
  await all(50, (n) => send(confirmed(SHOP, n)));
  expect(await answers()).toHaveLength(70);
  // The strangers who were answered get nothing more.
  await all(FORGED, (n) => send(forged(SHOP, n, '-again')));
  expect(await answers()).toHaveLength(70);
  await waitFor('the alert', () => told('alert.firing answersacme') > 0);
  expect(told('alert.firing answersacme')).toBe(1);
});

test('200 through a trusted relay: the network of the hop before, and of the shop', async () => {
  const { sendByRelay, all, answers } = await scene();
  await all(FORGED, (n) => sendByRelay(via(`8.8.8.${n}`, forged(SHOP, n))));
  const first = await answers();
  expect(first).toHaveLength(10);
  expectNeutral(first);
  // Without a public address, the limit of the shop alone.
  await all(60, (n) => sendByRelay(via('10.0.0.1', forged(SHOP, FORGED + n))));
  expect(await answers()).toHaveLength(60);
  await all(FORGED, (n) => sendByRelay(via(`9.9.${n}.9`, forged(SHOP, n, '-again'))));
  const last = await answers();
  expect(last).toHaveLength(60);
  expectNeutral(last);
  expect(last.filter(({ to }) => to.includes(victim(0))).length).toBeLessThanOrEqual(1);
});

test('200 by POST /email/inbound: the limit of the shop', async () => {
  const { post, all, answers } = await scene();
  await all(FORGED, (n) => post(SHOP, forged(SHOP, n)));
  const taken = await answers();
  expect(taken).toHaveLength(60);
  expectNeutral(taken);
});
