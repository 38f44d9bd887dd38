import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { shopNamed } from '../support/gateway-config.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  answerTo,
  confirmed,
  expectNeutral,
  forged,
  signed,
  type UnconfirmedScene,
  unconfirmedScene,
  via,
  victim,
} from './unconfirmed-scene.ts';

/** Smaller limits than those without configuration, which unconfirmed-senders.slow.test.ts has. */
const LIMITS = { dmarc: 'observe', unverifiedAnswers: { perHourPerNetwork: 2, perHourPerShop: 3 } };
const DIRECT = { ...shopNamed('direct', 0), email: LIMITS };
const RELAYED = { ...shopNamed('relayed', 1), email: LIMITS };
const FORWARDED = {
  ...shopNamed('forwarded', 2),
  email: { ...LIMITS, forwarders: ['forwarder.example'] },
};
const INBOUND = { ...shopNamed('inbound', 3), email: LIMITS };
const STRICT = { ...shopNamed('strict', 4), email: LIMITS };
const SIGNED = { ...shopNamed('signed', 7), email: LIMITS };
const SECOND = { ...shopNamed('second', 5), email: LIMITS };
const THIRD = { ...shopNamed('third', 6), email: LIMITS };

let scene: UnconfirmedScene;
beforeAll(async () => {
  scene = await unconfirmedScene([
    DIRECT,
    RELAYED,
    FORWARDED,
    INBOUND,
    STRICT,
    SIGNED,
    SECOND,
    THIRD,
  ]);
}, 60_000);
afterAll(() => scene.stop());

test('forged mails sent directly: the answers of a network, one alert, and customers are answered', async () => {
  const { send, post, all, answersOf, told } = scene;
  await all(4, (n) => send(forged(DIRECT, n)));
  const first = await answersOf(DIRECT);
  expect(first).toHaveLength(2);
  expectNeutral(first);
  // From the same network: who answers our answer, and who is confirmed.
  const [answer] = first;
  if (answer === undefined) throw new Error('there is no answer');
  await all(1, () => send(answerTo(answer, DIRECT)));
  await all(3, (n) => send(confirmed(DIRECT, n)));
  await all(4, (n) => send(forged(DIRECT, n, '-again')));
  expect(await answersOf(DIRECT)).toHaveLength(6);
  await waitFor('the alert', () => told('alert.firing answersdirect') > 0);
  // Each is of a later evaluation.
  for (const shop of [SECOND, THIRD]) {
    await all(4, (n) => post(shop, forged(shop, n)));
    await waitFor('the next alert', () => told(`alert.firing answers${shop.name}`) > 0);
  }
  expect(told('alert.firing answersdirect')).toBe(1);
});

test('through a trusted relay: the network of the hop before, and the limit of the shop', async () => {
  const { sendByRelay, all, answersOf } = scene;
  await all(3, (n) => sendByRelay(via(`8.8.8.${n}`, forged(RELAYED, n))));
  expect(await answersOf(RELAYED)).toHaveLength(2);
  // Without a public address, the limit of the shop alone.
  await all(2, (n) => sendByRelay(via('10.0.0.1', forged(RELAYED, 10 + n))));
  await all(1, () => sendByRelay(via('9.9.9.9', forged(RELAYED, 20))));
  const answers = await answersOf(RELAYED);
  expect(answers).toHaveLength(3);
  expectNeutral(answers);
});

test('through a forwarder that the shop names: the network of the hop before', async () => {
  const { send, all, answersOf } = scene;
  await all(3, (n) => send(via(`8.8.8.${n}`, forged(FORWARDED, n))));
  expect(await answersOf(FORWARDED)).toHaveLength(2);
  await all(1, () => send(via('9.9.9.9', forged(FORWARDED, 10))));
  expect(await answersOf(FORWARDED)).toHaveLength(3);
});

test('by POST /email/inbound: the limit of the shop', async () => {
  const { post, all, answersOf } = scene;
  await all(5, (n) => post(INBOUND, forged(INBOUND, n)));
  const answers = await answersOf(INBOUND);
  expect(answers).toHaveLength(3);
  expectNeutral(answers);
});

test('one that fails the policy of its domain gets none, although the shop only observes that', async () => {
  const { send, all, answersOf } = scene;
  const strict = { ...forged(STRICT, 1), from: 'ann@strict.example' };
  await all(1, () => send(strict));
  await all(1, () => send(forged(STRICT, 2)));
  const answers = await answersOf(STRICT);
  expect(answers.map(({ to }) => to)).toEqual([[victim(2)]]);
  // The id of an answer that went to somebody else changes nothing.
  const inReplyTo = answers[0]?.mail.messageId ?? '';
  await all(1, () => send({ ...strict, messageId: '<b@strict.example>', inReplyTo }));
  expect(await answersOf(STRICT)).toHaveLength(1);
});

test('a Subject that the signature does not cover is not repeated: anyone can send it on with another', async () => {
  const { send, all, answersOf } = scene;
  await all(1, () => send(signed(forged(SIGNED, 1), 'from:to:subject:date:message-id')));
  await all(1, () => send(signed(forged(SIGNED, 2), 'from:to:date:message-id')));
  const [covered, uncovered] = await answersOf(SIGNED);
  expect(covered?.mail.subject).toBe('Re: Cheap pills, call 0900 4711');
  expect(uncovered?.mail.subject).toBe('Re: your message');
  expect(uncovered?.raw).not.toMatch(/pills, call/i);
});
