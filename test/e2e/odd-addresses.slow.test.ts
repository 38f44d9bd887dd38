import { expect, test } from '@jest/globals';
import { describe, oddAddresses } from '../../bench/odd-addresses/run.ts';
import { sharedScene } from '../support/shared-scene.ts';

const ODD = 40;
const ORDINARY = 120;

const scene = sharedScene({ shops: { acme: {} } });

test('oddly addressed emails are delivered, and hold up nobody', async () => {
  const report = await oddAddresses(scene(), scene().shops.acme, {
    odd: ODD,
    hopeless: 8,
    ordinary: ORDINARY,
    withinMs: 8_000,
    p95WithinMs: 5_000,
  });
  console.log(describe(report));
  expect(report.faults).toEqual([]);
  // This platform names the field that it refuses.
  expect(report.odd).toEqual({ delivered: ODD });
  expect(report.ordinary).toEqual({ sent: ORDINARY, arrived: ORDINARY });
});
