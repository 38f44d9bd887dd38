import { describe, expect, test } from '@jest/globals';
import * as whole from '@preact/signals-core';
import * as slim from '../../../src/widget/slim/signals.ts';

/** What stands in for the package means the same as the package. */
describe.each([
  ['@preact/signals-core', whole],
  ['its stand-in', slim],
])('%s', (_name, { batch, computed, effect, signal, untracked }) => {
  test('an effect runs at once, and again for another value only', () => {
    const count = signal(1);
    const seen: number[] = [];
    const stop = effect(() => void seen.push(count.value));
    count.value = 1;
    count.value = 2;
    stop();
    count.value = 3;
    expect(seen).toEqual([1, 2]);
  });

  test('a computed value is made when it is asked for, and once for each change', () => {
    const count = signal(2);
    let made = 0;
    const twice = computed(() => {
      made += 1;
      return count.value * 2;
    });
    expect(made).toBe(0);
    expect([twice.value, twice.peek(), made]).toEqual([4, 4, 1]);
    count.value = 3;
    expect([twice.value, twice.value, made]).toEqual([6, 6, 2]);
  });

  test('an effect sees no half of a change', () => {
    const a = signal(1);
    const b = computed(() => a.value + 1);
    const c = computed(() => a.value * 10);
    const seen: string[] = [];
    effect(() => void seen.push(`${b.value}/${c.value}`));
    a.value = 2;
    expect(seen).toEqual(['2/10', '3/20']);
  });

  test('nothing runs where the computed value stayed the same', () => {
    const a = signal(1);
    const isOdd = computed(() => a.value % 2 === 1);
    let runs = 0;
    effect(() => {
      runs += 1;
      expect(isOdd.value).toBe(runs === 1);
    });
    a.value = 3;
    expect(runs).toBe(1);
    a.value = 4;
    expect(runs).toBe(2);
  });

  test('what is no longer read no longer counts', () => {
    const which = signal('a');
    const a = signal(1);
    const b = signal(1);
    let runs = 0;
    effect(() => {
      runs += 1;
      expect(which.value === 'a' ? a.value : b.value).toBeGreaterThan(0);
    });
    b.value = 2;
    expect(runs).toBe(1);
    which.value = 'b';
    a.value = 2;
    expect(runs).toBe(2);
    b.value = 3;
    expect(runs).toBe(3);
  });

  test('several changes in a batch are one', () => {
    const a = signal(1);
    const b = signal(1);
    const seen: number[] = [];
    effect(() => void seen.push(a.value + b.value));
    batch(() => {
      a.value = 2;
      b.value = 2;
      expect(seen).toEqual([2]);
    });
    expect(seen).toEqual([2, 4]);
  });

  test('what is read untracked does not count', () => {
    const a = signal(1);
    let runs = 0;
    effect(() => {
      runs += 1;
      untracked(() => a.value);
    });
    a.value = 2;
    expect(runs).toBe(1);
  });

  test('an effect is undone before it runs again, and at its end', () => {
    const a = signal(1);
    const told: string[] = [];
    const stop = effect(() => {
      const { value } = a;
      return () => void told.push(`undone ${value}`);
    });
    a.value = 2;
    stop();
    expect(told).toEqual(['undone 1', 'undone 2']);
  });

  test('an effect may change what another one reads', () => {
    const a = signal(1);
    const b = signal(0);
    const seen: number[] = [];
    effect(() => void (b.value = a.value * 2));
    effect(() => void seen.push(b.value));
    a.value = 5;
    expect(seen).toEqual([2, 10]);
  });

  test('a subscriber hears the value now and each other one', () => {
    const a = signal(1);
    const plus = computed(() => a.value + 1);
    const heard: number[] = [];
    const unsubscribe = plus.subscribe((value) => void heard.push(value));
    a.value = 2;
    unsubscribe();
    a.value = 3;
    expect(heard).toEqual([2, 3]);
  });
});
