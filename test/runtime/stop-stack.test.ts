import { expect, test } from '@jest/globals';
import { StopStack } from '../../src/runtime/stop-stack.ts';

test('doors close together, whatever one of them waits for, and the rest goes on', async () => {
  const stopped: string[] = [];
  const stack = new StopStack();
  let open: () => void = () => undefined;
  stack.push('spool', () => void stopped.push('spool'));
  stack.pushDoor('smtp', () => void stopped.push('smtp'));
  stack.pushDoor('http', () => new Promise<void>((resolve) => (open = resolve)));
  stack.pushDoor('chat', () => Promise.reject(new Error('broken')));
  const errors: string[] = [];
  const closed = stack.closeDoors((name) => void errors.push(name));
  expect(stopped).toEqual(['smtp']);
  open();
  await closed;
  expect(errors).toEqual(['chat']);
  await stack.unwind(() => undefined);
  expect(stopped).toEqual(['smtp', 'spool']);
});
