import { expect, test } from '@jest/globals';
import { allArrived, faultsOf, hasArrived } from '../support/arrivals.ts';
import { type Accepted, customerNumber, MailSession, sendText } from '../support/customers.ts';
import type { LogLine } from '../support/gateway-process.ts';
import { sharedScene } from '../support/shared-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const scene = sharedScene({ shops: { addresses: {}, failing: {}, alike: {}, firewall: {} } });

/** How often the platform has answered a message. */
const timesAnswered = ({ shop, remoteId }: Accepted): number =>
  shop.platform.received.filter((each) => each.remoteId === remoteId && each.isOver).length;

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_none, n) => make(n));

test.concurrent('addresses that the platform refuses stop nobody, in a shop that has delivered nothing yet', async () => {
  const { addresses: shop } = scene().shops;
  const mail = await MailSession.open(scene());
  const cc = 'root@localhost';
  const copied = await mail.send(shop, { from: 'eve@evil.example', cc, content: 'odd copy' });
  await waitFor('it to be submitted', () => timesAnswered(copied) > 0);
  const odd: Accepted[] = [];
  for (let n = 0; n < 6; n += 1) {
    odd.push(await mail.send(shop, { from: `"p ${n}"@evil.example`, content: `odd ${n}` }));
  }
  await waitFor('most to be submitted', () => odd.filter(timesAnswered).length >= 5);

  const ordinary: Accepted[] = [];
  for (let n = 0; n < 10; n += 1) {
    ordinary.push(await sendText(scene(), shop, customerNumber(n), `text ${n}`));
    const from = `ann${n}@example.com`;
    ordinary.push(await mail.send(shop, { from, content: `email ${n}` }));
  }
  mail.close();
  await allArrived(ordinary);
  expect(faultsOf([copied, ...odd, ...ordinary])).toEqual([]);
});

test.concurrent('ten messages that the platform always fails stop nobody, in a shop that has delivered nothing yet', async () => {
  const { failing: shop } = scene().shops;
  const poison = await Promise.all(
    times(10, (n) => sendText(scene(), shop, customerNumber(n), `poison ${n} [[500]]`)),
  );
  // One attempt is two tries.
  await waitFor('each to fail', () => poison.every((each) => timesAnswered(each) >= 2));
  const good = await Promise.all(
    times(60, (n) => sendText(scene(), shop, customerNumber(100 + n), `good ${n}`)),
  );
  await allArrived(good);
  expect(faultsOf(good)).toEqual([]);
  expect(poison.filter(hasArrived)).toEqual([]);
});

test.concurrent('texts that the platform refuses in the same words stop nobody, and ring one alarm', async () => {
  const { alike: shop } = scene().shops;
  const refused = await Promise.all(
    times(8, (n) => sendText(scene(), shop, customerNumber(n), `refused ${n} [[422]]`)),
  );
  await waitFor('each to be refused', () => refused.every(timesAnswered));
  const good = await Promise.all(
    times(10, (n) => sendText(scene(), shop, customerNumber(100 + n), `good ${n}`)),
  );
  await allArrived(good);
  expect(faultsOf(good)).toEqual([]);
  await waitFor('the alarm', async () => (await scene().alarms('refused_alike')) > 0, 100);
  const { log } = scene().gateway;
  const isAlarm = ({ message }: LogLine): boolean => message === 'platform.refuses_alike';
  await waitFor('its line', () => log.some(isAlarm));
  expect(log.filter(isAlarm)).toHaveLength(1);
  expect(await scene().alarms('refused_alike')).toBe(1);
});

test.concurrent('a text that a firewall refuses is the only one of its lane that is not delivered', async () => {
  const { firewall: shop } = scene().shops;
  const lanes = await Promise.all(
    times(3, async (lane) => {
      const accepted: Accepted[] = [];
      for (const text of ['before', 'it says [[403]]', 'after', 'later']) {
        const from = customerNumber(lane);
        accepted.push(await sendText(scene(), shop, from, `${text} ${lane}`));
      }
      return accepted;
    }),
  );
  const isBad = ({ content }: Accepted): boolean => content.includes('[[403]]');
  const good = lanes.flat().filter((each) => !isBad(each));
  await allArrived(good);
  expect(faultsOf(good)).toEqual([]);

  const entries = await scene().entries(shop);
  for (const bad of lanes.flat().filter(isBad)) {
    const entry = entries.find(({ remoteId }) => remoteId === bad.remoteId);
    expect(entry?.reason).toMatch(/403|Request blocked/);
    // Another incident each time: three times the same entry, not three entries, make it dead.
    if (entry?.state !== 'dead') expect(['queued', 'delivering']).toContain(entry?.state);
    else expect(timesAnswered(bad)).toBeGreaterThanOrEqual(3);
  }
});
