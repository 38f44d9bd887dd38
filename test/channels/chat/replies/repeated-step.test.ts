import { expect, test } from '@jest/globals';
import { RepeatedStep } from '../../../../src/channels/chat/replies/reply-poller.ts';
import { ends } from '../../../support/ends.ts';
import { waitFor } from '../../../support/wait-for.ts';

const now = (): number => performance.now();

function counted(next: (step: number) => number | undefined) {
  const times: number[] = [];
  const steps = new RepeatedStep(() => Promise.resolve(next(times.push(now()))), now);
  ends(() => steps.stop());
  return { steps, times };
}

test('a step is repeated at the times that it names, until it names none', async () => {
  const { steps, times } = counted((step) => (step < 3 ? now() + 20 : undefined));
  steps.wakeBy(0);
  await waitFor('three steps', () => times.length === 3);
  const [first = 0, , third = 0] = times;
  expect(third - first).toBeGreaterThanOrEqual(39);
});

test('an earlier time counts, a later one changes nothing', async () => {
  const { steps, times } = counted(() => undefined);
  steps.wakeBy(now() + 3_600_000);
  steps.wakeBy(now() + 7_200_000);
  steps.wakeBy(now() + 20);
  await waitFor('a step', () => times.length === 1);
});

test('who wakes it during a step is not forgotten, even at its very end', async () => {
  let wake: () => void = () => undefined;
  const { steps, times } = counted((step) => {
    if (step === 1) void Promise.resolve().then(() => wake());
    return undefined;
  });
  wake = () => steps.wakeBy(now());
  steps.wakeBy(0);
  await waitFor('a second step', () => times.length === 2);
});

test('a stop ends the wait, lets the step that runs end, and wakes no more', async () => {
  let finish: () => void = () => undefined;
  let isDone = false;
  const steps = new RepeatedStep(async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    isDone = true;
    return now() + 3_600_000;
  }, now);
  steps.wakeBy(0);
  const stopped = steps.stop();
  finish();
  await stopped;
  expect(isDone).toBe(true);
  steps.wakeBy(0);
  await steps.stop();
});
