import { expect, test } from '@jest/globals';
import { evaluate } from '../../../src/operations/alerts/evaluate.ts';
import type { AlertRecord, Reading } from '../../../src/operations/alerts/alert.ts';
import { MINUTE, NOW, SECOND } from './some-status.ts';

/** `good`: there is no reading. */
type Verdict = 'bad' | 'between' | 'good';

const reading = (verdict: 'bad' | 'between', more: Partial<Reading> = {}): Reading => ({
  key: 'dead/acme',
  rule: 'dead',
  shop: 'acme',
  holds: verdict === 'bad',
  forMs: 30 * SECOND,
  severity: 'critical',
  summary: 'dead ones',
  todo: 'retry them',
  figure: 1,
  ...more,
});

/** One look every ten seconds; which phase there was after each. */
function phases(verdicts: readonly Verdict[]): (AlertRecord['phase'] | undefined)[] {
  let records: AlertRecord[] = [];
  return verdicts.map((verdict, index) => {
    const readings = verdict === 'good' ? [] : [reading(verdict)];
    records = evaluate(records, readings, NOW + index * 10 * SECOND, MINUTE);
    return records[0]?.phase;
  });
}

test('bad for long enough fires; well for long enough is over', () => {
  expect(phases(['bad', 'bad', 'bad', 'bad'])).toEqual(['pending', 'pending', 'pending', 'firing']);
  const over = phases([...times(4, 'bad'), ...times(7, 'good')] as Verdict[]);
  expect(over.slice(4)).toEqual([...times(6, 'firing'), 'resolved']);
});

test('what is bad for a moment is never told', () => {
  expect(phases(['bad', 'bad', 'good', 'bad', 'bad', 'good'])).toEqual([
    ...['pending', 'pending', undefined],
    ...['pending', 'pending', undefined],
  ]);
});

test('what is well for a moment is not over', () => {
  const verdicts: Verdict[] = [
    ...times(4, 'bad' as const),
    ...Array.from({ length: 20 }, (_, index): Verdict => (index % 3 === 2 ? 'bad' : 'good')),
  ];
  expect(new Set(phases(verdicts).slice(3))).toEqual(new Set(['firing']));
});

test('between changes nothing, in either direction', () => {
  expect(new Set(phases(times(20, 'between')))).toEqual(new Set([undefined]));
  const held = phases([...times(4, 'bad' as const), ...times(20, 'between' as const)]);
  expect(new Set(held.slice(3))).toEqual(new Set(['firing']));
});

test('it has the summary of now and the beginning of then', () => {
  const first = evaluate([], [reading('bad')], NOW, MINUTE);
  const [later] = evaluate(
    first,
    [reading('bad', { summary: 'more of them', figure: 7 })],
    NOW + MINUTE,
    MINUTE,
  );
  expect(later).toMatchObject({ phase: 'firing', since: NOW, summary: 'more of them', figure: 7 });
});

test('bad again after it was over is a new beginning', () => {
  const resolved: AlertRecord = {
    ...{ key: 'dead/acme', rule: 'dead', severity: 'critical', summary: '', todo: '' },
    ...{ phase: 'resolved', since: NOW - MINUTE, changedAt: NOW, told: {} },
  };
  expect(evaluate([resolved], [reading('bad')], NOW + SECOND, MINUTE)).toMatchObject([
    { phase: 'firing', since: NOW + SECOND },
  ]);
});

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}
