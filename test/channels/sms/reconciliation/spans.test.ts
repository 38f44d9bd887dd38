import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { halves, spansSince } from '../../../../src/channels/sms/reconciliation/spans.ts';

describe('spans of the past', () => {
  test.each([
    ['less than one length', 95, [{ from: 95 }]],
    ['one length', 90, [{ from: 90 }]],
    ['a little more', 89, [{ from: 89, to: 99 }, { from: 99 }]],
    ['many', 65, [{ from: 65, to: 75 }, { from: 75, to: 85 }, { from: 85, to: 95 }, { from: 95 }]],
    ['nothing', 100, [{ from: 100 }]],
    ['what is to come', 120, [{ from: 120 }]],
  ])('%s', (_, from, spans) => {
    expect(spansSince(from, 100, 10)).toEqual(spans);
  });

  test('two halves are the whole, without a gap, until they are too short', () => {
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(time, fc.integer({ min: 0, max: 1e9 }), fc.boolean(), (from, length, open) => {
        const now = from + length;
        const span = { from, ...(!open && { to: now }) };
        const parted = halves(span, now);
        if (parted === undefined) {
          expect(length).toBeLessThan(4000);
          return;
        }
        const [first, second] = parted;
        expect(first.from).toBe(from);
        expect(first.to).toBe(second.from);
        expect(second.to).toBe(span.to);
        expect(second.from).toBeGreaterThan(from);
        expect(second.from).toBeLessThanOrEqual(now);
      }),
    );
  });
});
