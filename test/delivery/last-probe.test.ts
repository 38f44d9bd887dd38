import { because, SHOP } from '../support/entries.ts';
import { expect, test } from '@jest/globals';
import { isCreate, deliveryScene, json, message, toCreate } from './scene.ts';
import { sharedLeases } from '../support/leases.ts';
import { waitFor } from '../support/wait-for.ts';
import { Health } from '../../src/delivery/health.ts';

function setting() {
  const time = { now: 1_000_000 };
  const health = new Health(
    () => time.now,
    () => 0,
  );
  const probe = (during: () => void) => {
    const end = health.beginProbe();
    const begunAt = time.now;
    time.now += 100;
    during();
    end();
    return { begunAt, at: time.now };
  };
  return { time, health, probe, last: () => health.report().lastProbe };
}

test('a probe that failed is told with the platform’s words, until the next one', () => {
  const { health, probe, last } = setting();
  expect(last()).toBeUndefined();
  health.failed('a lane', because('503'));
  const first = probe(() => health.failed('a lane', because('502')));
  expect(last()).toEqual({ ...first, outcome: 'failed', reason: because('502') });
  const second = probe(() => health.delivered('a lane'));
  expect(last()).toEqual({ ...second, outcome: 'delivered' });
});

test('a probe that found nothing to try says so, unless reads still fail', () => {
  const { health, probe, last } = setting();
  health.failed('a lane', because('503'));
  probe(() => health.nothingToTry());
  expect(last()).toMatchObject({ outcome: 'nothing_to_try' });
  health.readsFailed(because('401'));
  expect(health.report()).toMatchObject({ state: 'open', readsFail: true });
  probe(() => health.nothingToTry());
  expect(last()).toMatchObject({ outcome: 'failed', reason: because('401') });
});

test('an operator’s word during a probe has the next one come right after it', () => {
  const { time, health, probe } = setting();
  health.failed('a lane', because('503'));
  probe(() => health.tryNow());
  expect(health.isProbeDue).toBe(true);
  probe(() => undefined);
  expect(health.isProbeDue).toBe(false);
  time.now += 5000;
  expect(health.isProbeDue).toBe(true);
});

test('a probe that another gateway has just made is not repeated, unless an operator asks', async () => {
  const leasesOf = sharedLeases();
  const [other, leases] = [leasesOf(), leasesOf()];
  const scene = await deliveryScene({ leases });
  await other.take(`probe of ${SHOP} messages`, 60_000);
  scene.platform.script = toCreate(json(503));
  scene.shop.health.messages.readsFailed(because('503'));
  await scene.submit(message());
  const tried = () => scene.platform.seen.filter(isCreate).length;
  const before = tried();
  const isDue = () => scene.shop.health.messages.isProbeDue;
  scene.ahead.ms += 60_000;
  await waitFor('the probe to be passed over', () => !isDue());
  expect(scene.shop.health.messages.report().lastProbe).toBeUndefined();
  expect(tried()).toBe(before);
  scene.tryNow();
  await waitFor('the probe', () => scene.shop.health.messages.report().lastProbe);
  expect(tried()).toBeGreaterThan(before);
});
