import { expect, test } from '@jest/globals';
import { KeptOutcome } from '../../src/delivery/kept-outcome.ts';
import type { Lease, Outcome, Settlement } from '../../src/spool/entry.ts';
import { SpoolUnavailable, StoreRefuses } from '../../src/spool/errors.ts';
import { asEntryId } from '../../src/domain/ids.ts';

const DELIVERED: Outcome = { state: 'delivered' };
const WRITTEN: Settlement = { steps: [{ at: 1, step: 'delivered' }], notes: { posts: 1 } };
const RECORD = { request: {}, attachments: [] };
const leaseOf = (generation: number): Lease => ({ id: asEntryId('entry-1'), generation });

type Answer = boolean | Error;

/** A store that gives these answers, the last one for ever. */
function setting(answers: readonly Answer[]) {
  const calls: { generation: number; settlement: Settlement; record: unknown }[] = [];
  const events: string[] = [];
  const stopped = new AbortController();
  const spool = {
    settle: (lease: Lease, _: Outcome, settlement: Settlement, record?: unknown) => {
      const answer = answers[Math.min(calls.length, answers.length - 1)] ?? false;
      calls.push({ generation: lease.generation, settlement, record });
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const kept = new KeptOutcome(spool, leaseOf(1), {
    stopped: stopped.signal,
    random: () => 0,
    onKept: () => events.push('kept'),
    onRefused: () => events.push('refused'),
  });
  return { kept, calls, events, stopped, settle: () => kept.settle(DELIVERED, WRITTEN, RECORD) };
}

const GONE = new SpoolUnavailable('the database cannot be reached');
const REFUSED = new StoreRefuses('the database refused a statement (22003)');

test('a store that answers is asked once', async () => {
  const it = setting([true]);
  expect(await it.settle()).toBe(true);
  expect(it.calls).toEqual([{ generation: 1, settlement: WRITTEN, record: RECORD }]);
  expect(it.events).toEqual([]);
});

test('while the store cannot be reached, the outcome is written again', async () => {
  const it = setting([GONE, GONE, true]);
  expect(await it.settle()).toBe(true);
  expect(it.calls).toHaveLength(3);
  expect(it.calls.at(-1)).toEqual({ generation: 1, settlement: WRITTEN, record: RECORD });
  expect(it.events).toEqual(['kept']);
});

test('it does not count once another gateway has claimed the entry', async () => {
  const it = setting([GONE, false]);
  expect(await it.settle()).toBe(false);
});

test('it is written under the claim by which this gateway got the entry again', async () => {
  const it = setting([GONE, true]);
  const settled = it.settle();
  it.kept.takeOver(leaseOf(2), () => it.events.push('begun'));
  expect(await settled).toBe(true);
  expect(it.calls.map(({ generation }) => generation)).toEqual([1, 2]);
  it.kept.end();
  expect(it.events).toEqual(['kept']);
});

test('a claim that came after it was written is an attempt of its own', async () => {
  const it = setting([true]);
  const settled = it.settle();
  it.kept.takeOver(leaseOf(2), () => it.events.push('begun'));
  expect(await settled).toBe(true);
  it.kept.end();
  expect(it.events).toEqual(['begun']);
});

test('it is written again when the claim was lost to this gateway itself', async () => {
  const it = setting([false, true]);
  const settled = it.settle();
  // Before the store has answered.
  it.kept.takeOver(leaseOf(2), () => it.events.push('begun'));
  expect(await settled).toBe(true);
  expect(it.calls.map(({ generation }) => generation)).toEqual([1, 2]);
});

test('what the store refuses is left out, and the outcome stays', async () => {
  const it = setting([REFUSED, true]);
  expect(await it.settle()).toBe(true);
  expect(it.calls.at(-1)).toEqual({ generation: 1, settlement: { steps: [] }, record: undefined });
  expect(it.events).toEqual(['kept', 'refused']);
});

test('an outcome that the store refuses alone is an error', async () => {
  const it = setting([REFUSED]);
  await expect(it.settle()).rejects.toBe(REFUSED);
  expect(it.calls).toHaveLength(2);
});

test('a stop ends the waiting, after one more try', async () => {
  const it = setting([GONE]);
  const settled = it.settle();
  it.stopped.abort();
  await expect(settled).rejects.toBe(GONE);
  expect(it.calls.length).toBeLessThanOrEqual(2);
});
