import { expect, test } from '@jest/globals';
import type { ActionProgress } from '../../../src/console/contract.ts';
import { Refusal } from '../../../src/console/page/refusal.ts';
import { follow } from '../../../src/console/page/messages/actions.ts';

const progress = (done: number, finished = false): ActionProgress => ({
  ...{ id: 'a', action: 'retry', total: 3, done, changed: done, refused: [] },
  ...{ finished, canUndo: finished, undone: false },
});

/** Answers what the gateway would, one after the other, and what was told on the way. */
async function followed(answers: readonly (ActionProgress | Error)[]) {
  const left = [...answers];
  const told: number[] = [];
  const parts = {
    action: () => {
      const next = left.shift() ?? new Error('asked too often');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    onAction: () => () => undefined,
    pollEveryMs: 1,
  };
  const end = await follow(progress(0), parts, ({ done }) => told.push(done));
  return { end, told };
}

test('goes on over an answer that was overtaken', async () => {
  const { end, told } = await followed([progress(2), progress(1), progress(3, true)]);
  expect(told).toEqual([0, 2, 3]);
  expect(end.finished).toBe(true);
});

test('outlives a gateway that is silent, and a session that has ended', async () => {
  const silent = new Refusal('unreachable', 'The gateway does not answer.');
  const signedOut = new Refusal('signed_out', 'Sign in');
  const { told } = await followed([
    ...[silent, silent, silent, signedOut, signedOut, signedOut, silent],
    progress(3, true),
  ]);
  expect(told).toEqual([0, 3]);
});

test('ends at once when nobody knows of it any more', async () => {
  const gone = new Refusal('not_found', 'There is no such action');
  await expect(followed([gone, progress(3, true)])).rejects.toThrow(gone);
});

test('ends when the gateway fails three times in a row', async () => {
  const broken = new Refusal('internal', 'no');
  await expect(
    followed([broken, broken, progress(1), broken, broken, broken, progress(3, true)]),
  ).rejects.toThrow(broken);
});
