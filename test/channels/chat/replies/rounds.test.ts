import { expect, test } from '@jest/globals';
import { Rounds } from '../../../../src/channels/chat/replies/rounds.ts';
import { ends } from '../../../support/ends.ts';
import { waitFor } from '../../../support/wait-for.ts';

const now = (): number => performance.now();

function counted(next: (step: number) => number | undefined) {
  const times: number[] = [];
  const rounds = new Rounds(() => Promise.resolve(next(times.push(now()))), now);
  ends(() => rounds.stop());
  return { rounds, times };
}

test('a step is repeated at the times that it names, until it names none', async () => {
  const { rounds, times } = counted((step) => (step < 3 ? now() + 20 : undefined));
  rounds.wakeBy(0);
  await waitFor('three steps', () => times.length === 3);
  const [first = 0, , third = 0] = times;
  expect(third - first).toBeGreaterThanOrEqual(39);
});

test('an earlier time counts, a later one changes nothing', async () => {
  const { rounds, times } = counted(() => undefined);
  rounds.wakeBy(now() + 3_600_000);
  rounds.wakeBy(now() + 7_200_000);
  rounds.wakeBy(now() + 20);
  await waitFor('a step', () => times.length === 1);
});

test('who wakes it during a step is not forgotten, even at its very end', async () => {
  let wake: () => void = () => undefined;
  const { rounds, times } = counted((step) => {
    if (step === 1) void Promise.resolve().then(() => wake());
    return undefined;
  });
  wake = () => rounds.wakeBy(now());
  rounds.wakeBy(0);
  await waitFor('a second step', () => times.length === 2);
});

test('a stop ends the wait, lets the step that runs end, and wakes no more', async () => {
  let finish: () => void = () => undefined;
  let isDone = false;
  const rounds = new Rounds(async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    isDone = true;
    return now() + 3_600_000;
  }, now);
  rounds.wakeBy(0);
  const stopped = rounds.stop();
  finish();
  await stopped;
  expect(isDone).toBe(true);
  rounds.wakeBy(0);
  await rounds.stop();
});
