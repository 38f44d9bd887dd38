import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { watch } from '../../src/cli/watch.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { waitFor } from '../support/wait-for.ts';

const processEvents = () => Object.assign(new EventEmitter(), { exit: () => undefined });

function screen(size: { columns: number; rows: number }) {
  const captured = captureTerminal();
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => raw.push(on),
  });
  return { terminal: Object.assign(captured, { ...size, input }), input, raw };
}

test('a screen is drawn over in one write, only when something changed, and given back', async () => {
  const { terminal, input, raw } = screen({ columns: 80, rows: 3 });
  const events = processEvents();
  let looks = 0;
  const lines = () => {
    looks += 1;
    return Promise.resolve(looks < 4 ? ['one', 'two', 'three', 'four'] : ['other']);
  };
  const done = watch(terminal, events, { everyMs: 1, lines });
  await waitFor('more looks', () => looks > 6);
  input.write('x');
  input.write('q');
  await done;
  const text = terminal.stdout();
  const frames = text.split('\u001b[?2026h').slice(1);
  expect(frames).toHaveLength(2);
  expect(frames[0]).toContain('\u001b[2Kone\r\n\u001b[2Ktwo\r\n\u001b[2Kthree\u001b[?2026l');
  expect(frames[0]).not.toContain('four');
  expect(frames[1]).toContain('\u001b[2Kother\r\n\u001b[J');
  expect(text.startsWith('\u001b[?1049h\u001b[?25l\u001b[?7l')).toBe(true);
  expect(text.endsWith('\u001b[?7h\u001b[?25h\u001b[?1049l')).toBe(true);
  expect(raw).toEqual([true, false]);
  expect(events.eventNames()).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM'])(
  '%s ends it too, and another size draws it anew',
  async (signal) => {
    const size = { columns: 80, rows: 10 };
    const { terminal } = screen(size);
    const events = processEvents();
    const done = watch(terminal, events, {
      everyMs: 60_000,
      lines: () => Promise.resolve(['one']),
    });
    await waitFor('the first frame', () => terminal.stdout().includes('one'));
    Object.assign(terminal, { columns: 40 });
    await waitFor('the pause', () => events.listenerCount('SIGWINCH') > 0);
    events.emit('SIGWINCH');
    await waitFor('another frame', () => terminal.stdout().split('one').length === 3);
    events.emit(signal);
    await done;
  },
);

test('a screen is given back when looking fails', async () => {
  const { terminal, raw } = screen({ columns: 80, rows: 10 });
  const lines = () => Promise.reject(new Error('gone'));
  await expect(watch(terminal, processEvents(), { everyMs: 1, lines })).rejects.toThrow('gone');
  expect(terminal.stdout().endsWith('\u001b[?7h\u001b[?25h\u001b[?1049l')).toBe(true);
  expect(raw).toEqual([true, false]);
});

test('on a pipe only lines that changed are printed', async () => {
  const terminal = captureTerminal();
  const events = processEvents();
  const frames = [['a', 'b'], ['a', 'b'], ['a', 'c'], ['b']];
  let looks = 0;
  const lines = () => Promise.resolve(frames[looks++] ?? ['b']);
  const done = watch(terminal, events, { everyMs: 1, lines });
  await waitFor('all frames', () => looks > frames.length);
  events.emit('SIGTERM');
  await done;
  expect(terminal.stdout()).toBe('a\nb\nc\nb\n');
});
