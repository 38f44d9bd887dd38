import { describe, expect, test } from '@jest/globals';
import { runCount } from '../support/run-count.ts';
import { play, told } from './play.ts';

const PORTIONS = runCount(6);
const AT_ONCE = runCount(30);
const OF_SEVERAL_GATEWAYS = runCount(10);

/** `npm run bench -- simulate` runs many more seeds; `--only SEED` runs one again. */
describe('whatever platform, people and machine do', () => {
  const portions = Array.from({ length: PORTIONS }, (_, index) => index * AT_ONCE + 1);
  test.each(portions)(
    'nothing is lost, nothing is twice, order and progress hold: seeds %i and on',
    async (first) => {
      for (let seed = first; seed < first + AT_ONCE; seed += 1) {
        const played = await play(seed);
        expect(played.violations.length > 0 ? told(played) : '').toBe('');
      }
    },
  );

  test('the same holds for three gateways with one store', async () => {
    for (let seed = 1; seed <= OF_SEVERAL_GATEWAYS; seed += 1) {
      const played = await play(seed, { gateways: 3 });
      expect(played.violations.length > 0 ? told(played) : '').toBe('');
    }
  });

  test.each([1, 3])('the same seed plays the same with %i gateways', async (gateways) => {
    const outcomes = async () => {
      const { run } = await play(77, { gateways });
      return run.fates.map(({ message, acceptedAt, deliveredAt, claims }) => [
        ...[message.tag, acceptedAt, deliveredAt, claims],
      ]);
    };
    expect(await outcomes()).toEqual(await outcomes());
  });
});
