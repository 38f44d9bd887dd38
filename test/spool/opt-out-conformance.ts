import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { OptOutStore } from '../../src/spool/opt-out-store.ts';
import { OTHER_SHOP, SHOP } from '../support/entries.ts';

interface Opened {
  readonly optOuts: OptOutStore;
}

export interface OptOutStoreUnderTest extends Opened {
  /** Ends the process that had it and starts another. */
  reopen(): Promise<Opened>;
  remove(): Promise<void>;
}

/** What `opt-out-store.ts` says in words. */
export function describeOptOuts(backend: string, open: () => Promise<OptOutStoreUnderTest>): void {
  describe(`opt-outs on ${backend}`, () => {
    let under: OptOutStoreUnderTest;
    let optOuts: OptOutStore;

    beforeEach(async () => {
      under = await open();
      ({ optOuts } = under);
    });
    afterEach(() => under.remove());

    const isOut = (lane = 'lane', shop = SHOP) => optOuts.isOptedOut(shop, lane);

    test('nobody is opted out before they ask for it, and opting in changes nothing', async () => {
      expect(await isOut()).toBe(false);
      expect(await optOuts.optIn(SHOP, 'lane', 'SM1')).toBe(false);
      expect(await isOut()).toBe(false);
    });

    test('an opt-out is of one lane of one shop, and survives a restart', async () => {
      await optOuts.optOut(SHOP, 'lane', 'SM1');
      ({ optOuts } = await under.reopen());
      expect(await isOut()).toBe(true);
      expect(await isOut('another lane')).toBe(false);
      expect(await isOut('lane', OTHER_SHOP)).toBe(false);
      expect(await optOuts.optIn(OTHER_SHOP, 'lane', 'SM2')).toBe(false);
      expect(await isOut()).toBe(true);
    });

    test('an opt-in ends it, and can be repeated with the same result, over a restart', async () => {
      await optOuts.optOut(SHOP, 'lane', 'SM1');
      expect(await optOuts.optIn(SHOP, 'lane', 'SM2')).toBe(true);
      expect(await isOut()).toBe(false);
      ({ optOuts } = await under.reopen());
      expect(await optOuts.optIn(SHOP, 'lane', 'SM2')).toBe(true);
      expect(await optOuts.optIn(SHOP, 'lane', 'SM3')).toBe(false);
      // The message that was the first to change it is still known.
      expect(await optOuts.optIn(SHOP, 'lane', 'SM2')).toBe(true);
      expect(await isOut()).toBe(false);
    });

    test('an opt-out can be repeated, and the last message decides', async () => {
      await optOuts.optOut(SHOP, 'lane', 'SM1');
      await optOuts.optOut(SHOP, 'lane', 'SM1');
      expect(await isOut()).toBe(true);
      expect(await optOuts.optIn(SHOP, 'lane', 'SM2')).toBe(true);
      await optOuts.optOut(SHOP, 'lane', 'SM3');
      expect(await isOut()).toBe(true);
      expect(await optOuts.optIn(SHOP, 'lane', 'SM2')).toBe(true);
      expect(await isOut()).toBe(false);
    });

    test('of many at once, none is lost, and one opt-in is the one that ended it', async () => {
      const lanes = Array.from({ length: 50 }, (_, n) => `lane ${n}`);
      await Promise.all(lanes.map((lane, n) => optOuts.optOut(SHOP, lane, `SM${n}`)));
      expect(await Promise.all(lanes.map((lane) => isOut(lane)))).not.toContain(false);
      const ended = await Promise.all(
        lanes.map((_, n) => optOuts.optIn(SHOP, 'lane 0', `START${n}`)),
      );
      expect(ended.filter(Boolean)).toHaveLength(1);
      expect(await isOut('lane 0')).toBe(false);
      expect(await isOut('lane 1')).toBe(true);
    });

    test.each([`'; DROP TABLE opt_out; --`, 'x\0y', 'x\ud800y', '😀', ''])(
      'the lane may be %j',
      async (lane) => {
        await optOuts.optOut(SHOP, lane, lane);
        expect(await isOut(lane)).toBe(true);
        expect(await optOuts.optIn(SHOP, lane, lane)).toBe(true);
        expect(await isOut(lane)).toBe(false);
      },
    );
  });
}
