import { expect, test } from '@jest/globals';
import { LearnedAnswers } from '../../src/delivery/answer.ts';
import { SHOP } from '../support/entries.ts';

const URL = 'https://platform.example';

function newMarks() {
  const kept = new Map<string, number>();
  return {
    kept,
    mark: (name: string) => Promise.resolve(kept.get(name)),
    setMark: (name: string, value: number) => Promise.resolve(void kept.set(name, value)),
    raiseMark: (name: string, most: number) => {
      const value = kept.get(name) ?? 0;
      if (value < 0 || value >= most) return Promise.resolve(false);
      kept.set(name, value + 1);
      return Promise.resolve(true);
    },
  };
}

test('what one gateway missed after a form counts for those that found it', async () => {
  const marks = newMarks();
  const [one, other] = [new LearnedAnswers(SHOP, URL), new LearnedAnswers(SHOP, URL)];
  for (let n = 0; n < 11; n += 1) await one.found('200 empty', marks);
  await other.notFound('200 empty', marks);
  for (let n = 0; n < 16; n += 1) await one.found('200 empty', marks);
  expect(await one.isTaken('200 empty', marks)).toBe(false);
});

test('of two forms that gateways learn at once, one counts as success', async () => {
  const marks = newMarks();
  const forms = ['200 empty', '201 ok'];
  const gateways = forms.map((form) => ({ form, answers: new LearnedAnswers(SHOP, URL) }));
  for (let n = 0; n < 16; n += 1) {
    await Promise.all(gateways.map(({ form, answers }) => answers.found(form, marks)));
  }
  const asked = new LearnedAnswers(SHOP, URL);
  const taken = await Promise.all(forms.map((form) => asked.isTaken(form, marks)));
  expect(taken.filter(Boolean)).toHaveLength(1);
});

test('a platform whose every answer has another form leaves few marks, over restarts too', async () => {
  const marks = newMarks();
  for (let start = 0; start < 3; start += 1) {
    const answers = new LearnedAnswers(SHOP, URL);
    for (let n = 0; n < 50; n += 1) {
      await answers.notFound(`201 ${start} ${n} missed`, marks);
      await answers.found(`201 ${start} ${n}`, marks);
    }
  }
  expect(marks.kept.size).toBeLessThanOrEqual(21);
  const answers = new LearnedAnswers(SHOP, URL);
  for (let n = 0; n < 12; n += 1) {
    await answers.found('201 0 1', marks);
    await answers.found('201 late', marks);
  }
  // What was learned before goes on to be learned.
  expect(await answers.isTaken('201 0 1', marks)).toBe(true);
  expect(await answers.isTaken('201 late', marks)).toBe(false);
});
