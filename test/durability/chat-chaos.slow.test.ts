import { afterEach, expect, test } from '@jest/globals';
import { chaos, describe } from '../../bench/chat/chaos.ts';
import { correspondenceOf, violationsOf, type Witness } from '../../bench/chat/verdict.ts';
import { Workbench } from '../../bench/support/workbench.ts';

let bench = new Workbench();

afterEach(async () => {
  await bench.end();
  bench = new Workbench();
});

test('bad lines, a kill and restarts: every message and reply once, in order, without gaps', async () => {
  const report = await chaos(bench, {
    clients: 12,
    seconds: 15,
    seed: 20_260_406,
    restarts: 2,
    meanPauseMs: 800,
    meanCalmMs: 2_500,
    maxStallMs: 1_500,
    faultShare: 0.05,
    settleWithinMs: 120_000,
    onProgress: () => undefined,
  });
  console.log(describe(report));
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(24);
  expect(report.replies).toBeGreaterThan(12);
  expect(report.tabs).toBeGreaterThan(12);
  expect(report.widgets).toBe(3);
  expect(report.troubles.size).toBeGreaterThan(3);
});

/** A visitor who said two things and was answered once, and what the platform has of it. */
function quietChat() {
  const witness = {
    visitorId: 'ann',
    said: [
      { text: 'one', id: 'a', seq: 1 },
      { text: 'two', id: 'b', seq: 3 },
    ],
    tabs: [
      {
        faults: [] as string[],
        shown: [
          { seq: 1, id: 'a', from: 'visitor' as const, text: 'one' },
          { seq: 2, id: 'r', from: 'agent' as const, text: 'yes?' },
          { seq: 3, id: 'b', from: 'visitor' as const, text: 'two' },
        ],
      },
    ],
  } satisfies Witness;
  const common = { conversation_id: 'c', created_at: '' };
  const stored = [
    { ...common, id: '1', role: 'customer' as const, remote_id: 'chat:ann:a', content: 'one' },
    { ...common, id: 'r', role: 'agent' as const, remote_id: null, content: 'yes?' },
    { ...common, id: '2', role: 'customer' as const, remote_id: 'chat:ann:b', content: 'two' },
  ];
  const verdict = (): string => violationsOf(witness, correspondenceOf(stored)('ann')).join('\n');
  return { witness, stored, shown: witness.tabs[0]?.shown ?? [], verdict };
}

test('the verdict names what is lost, twice, out of order or not shown', () => {
  expect(quietChat().verdict()).toBe('');
  const lost = quietChat();
  lost.stored.pop();
  expect(lost.verdict()).toMatch(/two was acknowledged and is lost/);
  const twice = quietChat();
  twice.stored.push(...twice.stored.slice(2));
  expect(twice.verdict()).toMatch(/two is at the platform 2 times/);
  const disordered = quietChat();
  disordered.stored.reverse();
  expect(disordered.verdict()).toMatch(/one is at the platform after the 1th/);
  const unseen = quietChat();
  unseen.shown.splice(1, 1);
  expect(unseen.verdict()).toMatch(/line 2 has the number 3/);
  expect(unseen.verdict()).toMatch(/shows of the replies 0 of 1/);
  const again = quietChat();
  again.shown.push({ seq: 4, id: 'r', from: 'agent', text: 'yes?' });
  expect(again.verdict()).toMatch(/shows of the replies 2 of 1/);
  const foreign = quietChat();
  foreign.shown.push({ seq: 4, id: 'x', from: 'agent', text: 'hello' });
  expect(foreign.verdict()).toMatch(/a reply that is none of his/);
  const renumbered = quietChat();
  renumbered.witness.said[1] = { text: 'two', id: 'b', seq: 2 };
  expect(renumbered.verdict()).toMatch(/acknowledged as 2 and is shown as 3/);
});
