import { expect, test } from '@jest/globals';
import { Pacer, type Urgency } from '../../../../src/channels/chat/replies/pacer.ts';

const never = new AbortController().signal;

async function orderOf(pacer: Pacer, callers: readonly Urgency[]): Promise<Urgency[]> {
  const order: Urgency[] = [];
  await Promise.all(
    callers.map(async (urgency) => {
      await pacer.turn(never, urgency);
      order.push(urgency);
    }),
  );
  return order;
}

test('callers go through one after the other, so far apart', async () => {
  const pacer = new Pacer(50);
  const started = performance.now();
  await orderOf(pacer, ['usual', 'usual', 'usual', 'usual']);
  expect(performance.now() - started).toBeGreaterThanOrEqual(60);
});

test('the urgent ones go first, and the others are not left out', async () => {
  const order = await orderOf(new Pacer(1000), [
    ...['usual', 'usual'].map(() => 'usual' as const),
    ...['urgent', 'urgent', 'urgent', 'urgent', 'urgent'].map(() => 'urgent' as const),
  ]);
  expect(order).toEqual(['urgent', 'urgent', 'urgent', 'usual', 'urgent', 'urgent', 'usual']);
});

test('who gives up waits no more, and takes nobody’s turn', async () => {
  const pacer = new Pacer(20);
  await pacer.turn(never);
  const leaving = new AbortController();
  const gone = pacer.turn(leaving.signal, 'urgent');
  const stays = pacer.turn(never);
  leaving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  await stays;
  await expect(pacer.turn(leaving.signal)).rejects.toThrow('gone');
});

test('nothing is left running when the last one has given up', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const pacer = new Pacer(0.01);
  await pacer.turn(never);
  const before = timers();
  const leaving = new AbortController();
  const gone = pacer.turn(leaving.signal);
  expect(timers()).toBe(before + 1);
  leaving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  expect(timers()).toBe(before);
});
