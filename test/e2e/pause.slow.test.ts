import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { allArrived, faultsOf } from '../support/arrivals.ts';
import { customerNumber, sendText } from '../support/customers.ts';
import { sharedScene } from '../support/shared-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const MESSAGES = 10;
const PAUSE_MS = 4_000;

// Two messages of one id are two messages there: a repetition shows.
const scene = sharedScene({
  shops: { acme: { latencyMs: [500, 500], dedup: 'none' } },
  delivery: { requestTimeout: '2s' },
});

test('answers that came while the process stood still count, however long it stood', async () => {
  const { gateway, shops } = scene();
  const { platform } = shops.acme;
  const accepted = await Promise.all(
    Array.from({ length: MESSAGES }, (_none, n) =>
      sendText(scene(), shops.acme, customerNumber(n), `text ${n}`),
    ),
  );
  await waitFor('all to be in flight', () => platform.of('POST /messages/').length === MESSAGES);
  gateway.signal('SIGSTOP');
  // The pause is what is tested: it has to outlast the timeout, and every answer has to be there.
  await Promise.all([
    delay(PAUSE_MS),
    waitFor('the answers', () => platform.received.every(({ isOver }) => isOver)),
  ]);
  gateway.signal('SIGCONT');
  await allArrived(accepted);
  await waitFor(
    'the entries to be delivered',
    async () => {
      const entries = await scene().entries(shops.acme);
      return entries.every(({ state }) => state === 'delivered');
    },
    250,
  );
  expect(faultsOf(accepted)).toEqual([]);
  expect(platform.of('POST /messages/')).toHaveLength(MESSAGES);
});
