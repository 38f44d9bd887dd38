import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  CallFailed,
  NotAnswered,
  RpcThread,
  type RpcThreadOptions,
  transferring,
} from '../../src/runtime/worker-rpc.ts';
import { ends } from '../support/ends.ts';

/** What rpc-thread.mjs offers. */
interface Thread {
  add(one: number, other: number): number;
  data(): unknown;
  environment(): Record<string, string>;
  messages(): { received: number; posted: number };
  fail(): void;
  throwText(): void;
  first(bytes: Uint8Array): number;
  filled(length: number): { bytes: Uint8Array };
  ask(text: string): Promise<string>;
  askFailing(): Promise<unknown>;
  never(): Promise<never>;
  loop(): never;
  exit(): never;
  heap(): never;
  throwLater(): Promise<never>;
}
interface Owner {
  /** Called by the thread once, at its start. */
  ready(): void;
  answer(text: string): Promise<string>;
  refuse(): void;
}

const file = (name: string) => pathToFileURL(join(import.meta.dirname, name));

const owner: Owner = {
  ready: () => undefined,
  answer: (text) => Promise.resolve(`${text}!`),
  refuse() {
    throw new RangeError('a secret of a customer');
  },
};

function start(options: RpcThreadOptions<Thread, Owner> = {}): RpcThread<Thread, Owner> {
  const thread = new RpcThread<Thread, Owner>(file('rpc-thread.mjs'), {
    functions: owner,
    ...options,
  });
  ends(() => thread.stop());
  return thread;
}

interface Death {
  readonly inFlight: number;
  readonly error: string | undefined;
}

/** A thread that has started, and the promise of its death. */
async function mortal(options: RpcThreadOptions<Thread, Owner> = {}) {
  const { death, onDeath } = dying();
  let thread: RpcThread<Thread, Owner> | undefined;
  await new Promise<void>((ready) => {
    thread = start({ ...options, functions: { ...owner, ready }, onDeath });
  });
  if (thread === undefined) throw new Error('it did not start');
  return { thread, death };
}

function dying() {
  let onDeath: (inFlight: number, error?: Error) => void = () => undefined;
  const death = new Promise<Death>((resolve) => {
    onDeath = (inFlight, error) => resolve({ inFlight, error: error?.name });
  });
  return { death, onDeath };
}

test('a function is called by its name, with types', async () => {
  const thread = start({ data: { some: 'settings' } });
  const sum: number = await thread.call('add', 1, 2);
  expect(sum).toBe(3);
  expect(await thread.call('data')).toEqual({ some: 'settings' });
  // @ts-expect-error the arguments are those of the function
  expect(await thread.call('add', 'a', 'b')).toBe('ab');
});

test('a thread finds no environment', async () => {
  expect(await start().call('environment')).toEqual({});
});

test('the calls of one turn are one message, and so are their answers', async () => {
  const thread = start();
  const before = await thread.call('messages');
  await Promise.all(Array.from({ length: 50 }, (_, index) => thread.call('add', index, 1)));
  const after = await thread.call('messages');
  // The answer to `before`, and the one to fifty calls.
  expect(after.posted - before.posted).toBe(2);
  // The fifty calls, and `after`.
  expect(after.received - before.received).toBe(2);
});

test('a failure has a kind, a name and a code, but no text, and the thread continues', async () => {
  const thread = start();
  const failed = await thread.call('fail').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(CallFailed);
  expect(failed).toMatchObject({ failure: { kind: 'full', name: 'RangeError', code: 'E_FULL' } });
  const thrown = await thread.call('throwText').catch((error: unknown) => error);
  expect(thrown).toMatchObject({ failure: { kind: 'other', name: 'string', code: '' } });
  expect(`${String(failed)} ${String(thrown)}`).not.toContain('secret');
  expect(await thread.call('add', 1, 2)).toBe(3);
});

test('a name that the thread does not offer fails', async () => {
  const call = start().call as (name: string) => Promise<unknown>;
  await expect(call('unknown')).rejects.toMatchObject({ failure: { name: 'TypeError' } });
});

test('a thread calls functions of its owner', async () => {
  const thread = start();
  expect(await thread.call('ask', 'well')).toBe('well!');
  expect(await thread.call('askFailing')).toEqual({ kind: 'error', name: 'RangeError', code: '' });
});

test('buffers of an argument and of a result are moved when they are to be', async () => {
  const thread = start();
  const kept = new Uint8Array(100).fill(5);
  expect(await thread.call('first', kept)).toBe(5);
  expect(kept.byteLength).toBe(100);
  const moved = new Uint8Array(100).fill(6);
  expect(await thread.call('first', transferring(moved, [moved.buffer]))).toBe(6);
  expect(moved.byteLength).toBe(0);
  const { bytes } = await thread.call('filled', 1000);
  expect([bytes.byteLength, bytes[999]]).toEqual([1000, 7]);
});

const endings: [what: string, name: 'loop' | 'exit' | 'heap' | 'throwLater', error?: string][] = [
  ['hangs in a loop', 'loop'],
  ['exits', 'exit'],
  ['is out of memory', 'heap', 'Error'],
  ['does not catch an error', 'throwLater', 'RangeError'],
];
test.each(endings.map(([what, name, error]) => ({ what, name, error })))(
  'a thread that $what answers no call, and its owner learns of it',
  async ({ name, error }) => {
    const { thread, death } = await mortal({
      limits: { maxOldGenerationSizeMb: 16 },
      ...(name === 'loop' && { deadlinesMs: { loop: 1000 } }),
    });
    const calls = [thread.call('never'), thread.call(name), thread.call('never')];
    const reasons = await Promise.all(calls.map((call) => call.catch((reason: unknown) => reason)));
    for (const reason of reasons) expect(reason).toBeInstanceOf(NotAnswered);
    expect(await death).toEqual({ inFlight: 3, error });
    await expect(thread.call('add', 1, 2)).rejects.toBeInstanceOf(NotAnswered);
  },
);

test('a thread whose file is missing dies', async () => {
  const { death, onDeath } = dying();
  const thread = new RpcThread<Thread>(file('no-such-thread.mjs'), { onDeath });
  ends(() => thread.stop());
  await expect(thread.call('add', 1, 2)).rejects.toBeInstanceOf(NotAnswered);
  expect(await death).toMatchObject({ inFlight: 1 });
});

test('a late call ends a thread, although it answers others', async () => {
  const { thread, death } = await mortal({ deadlinesMs: { never: 5000 } });
  const late = thread.call('never').catch((reason: unknown) => reason);
  expect(await thread.call('add', 1, 2)).toBe(3);
  expect(await late).toBeInstanceOf(NotAnswered);
  expect(await death).toEqual({ inFlight: 1, error: undefined });
});

describe('where a late call gets more time', () => {
  const options = { deadlinesMs: { never: 300, loop: 300 } };

  test('a thread that says nothing and uses no processor time has all of it', async () => {
    const { thread, death } = await mortal({ ...options, extendToMs: 1500 });
    const askedAt = performance.now();
    await expect(thread.call('never')).rejects.toBeInstanceOf(NotAnswered);
    expect(performance.now() - askedAt).toBeGreaterThan(1400);
    expect(await death).toEqual({ inFlight: 1, error: undefined });
  });

  test('a thread that answers others has it, too, and goes on after it', async () => {
    const { thread } = await mortal({ ...options, extendToMs: 1500 });
    const askedAt = performance.now();
    const late = thread.call('never').catch((reason: unknown) => reason);
    expect(await thread.call('add', 1, 2)).toBe(3);
    expect(await late).toBeInstanceOf(NotAnswered);
    expect(performance.now() - askedAt).toBeGreaterThan(1400);
    expect(await thread.call('add', 1, 2)).toBe(3);
  });

  test('a thread that hangs is ended before', async () => {
    const { thread, death } = await mortal({ ...options, extendToMs: 600_000 });
    await expect(thread.call('loop')).rejects.toBeInstanceOf(NotAnswered);
    expect(await death).toEqual({ inFlight: 1, error: undefined });
  });
});

test('a stop rejects the calls in flight and is no death', async () => {
  let deaths = 0;
  const thread = start({ onDeath: () => (deaths += 1) });
  await thread.call('add', 1, 2);
  const calls = [thread.call('never'), thread.call('loop')];
  const reasons = calls.map((call) => call.catch((reason: unknown) => reason));
  await thread.stop();
  for (const reason of await Promise.all(reasons)) expect(reason).toBeInstanceOf(NotAnswered);
  await expect(thread.call('add', 1, 2)).rejects.toBeInstanceOf(NotAnswered);
  await thread.stop();
  expect(deaths).toBe(0);
});

test('a process waits for an answer, but not for an idle thread', async () => {
  const command = join(import.meta.dirname, 'rpc-command.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [command], { timeout: 30_000 });
  expect(stdout).toBe('3\n');
});
