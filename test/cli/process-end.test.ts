import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { watchProcess } from '../../src/cli/process-end.ts';

test('a second signal, a while after the first, ends the process at once', async () => {
  const exits: number[] = [];
  const events = Object.assign(new EventEmitter(), {
    exit: (code: number) => void exits.push(code),
  });
  let now = 5;
  const end = watchProcess(
    events,
    () => undefined,
    () => now,
  );
  events.emit('SIGTERM');
  expect(await end.first).toEqual({ kind: 'signal', signal: 'SIGTERM' });
  now += 900;
  events.emit('SIGTERM');
  expect(exits).toEqual([]);
  now += 200;
  events.emit('SIGINT');
  expect(exits).toEqual([1]);
  end.stop();
  expect(events.eventNames()).toEqual([]);
});
