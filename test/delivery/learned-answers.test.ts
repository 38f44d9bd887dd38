import { expect, test } from '@jest/globals';
import { LearnedAnswers } from '../../src/delivery/answer.ts';
import { SHOP } from '../support/entries.ts';

const URL = 'https://platform.example';

test('a platform whose every answer has another form leaves few marks, over restarts too', async () => {
  const kept = new Map<string, number>();
  const marks = {
    mark: (name: string) => Promise.resolve(kept.get(name)),
    setMark: (name: string, at: number) => Promise.resolve(void kept.set(name, at)),
  };
  for (let start = 0; start < 3; start += 1) {
    const answers = new LearnedAnswers(SHOP, URL);
    for (let n = 0; n < 50; n += 1) {
      await answers.notFound(`201 ${start} ${n} missed`, marks);
      await answers.found(`201 ${start} ${n}`, marks);
    }
  }
  expect(kept.size).toBeLessThanOrEqual(21);
  const answers = new LearnedAnswers(SHOP, URL);
  for (let n = 0; n < 5; n += 1) {
    await answers.found('201 0 1', marks);
    await answers.found('201 late', marks);
  }
  // What was learned before goes on to be learned.
  expect(await answers.isTaken('201 0 1', marks)).toBe(true);
  expect(await answers.isTaken('201 late', marks)).toBe(false);
});
