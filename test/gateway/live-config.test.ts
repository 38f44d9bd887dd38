import { expect, test } from '@jest/globals';
import type { CompleteConfig } from '../../src/config/complete.ts';
import { LiveConfig } from '../../src/gateway/live-config.ts';
import { silentLogger } from '../../src/observability/logger.ts';

/** Parts only see what they read. */
const config = (level: string, paused = false) =>
  ({ log: { level }, delivery: { paused } }) as unknown as CompleteConfig;

test('a part is made anew when something that it reads has changed', async () => {
  const live = new LiveConfig(config('info'), silentLogger);
  let made = 0;
  const level = live.derive('log', ['log'], ({ log }) => {
    made += 1;
    return log.level;
  });
  await live.apply(config('info', true), ['delivery.paused']);
  expect([level.value, made]).toEqual(['info', 1]);
  await live.apply(config('debug', true), ['log.level']);
  expect([level.value, made]).toEqual(['debug', 2]);
  expect(live.value.delivery.paused).toBe(true);
});

test('all parts are prepared before the first one changes over, and tidied up afterwards', async () => {
  const live = new LiveConfig(config('info'), silentLogger);
  const steps: string[] = [];
  for (const name of ['one', 'two']) {
    live.add({
      name,
      reads: ['log'],
      prepare: async () => {
        await Promise.resolve();
        steps.push(`${name} prepares`);
        return {
          commit: () => void steps.push(`${name} changes over`),
          after: () => {
            steps.push(`${name} tidies up`);
            return name === 'one' ? Promise.reject(new Error('untidy')) : Promise.resolve();
          },
        };
      },
    });
  }
  await live.apply(config('warn'), ['log.level']);
  expect(steps).toEqual([
    ...['one prepares', 'two prepares', 'one changes over', 'two changes over'],
    ...['one tidies up', 'two tidies up'],
  ]);
});

test('a part that cannot be prepared leaves everything as it was', async () => {
  const live = new LiveConfig(config('info'), silentLogger);
  const level = live.derive('log', ['log'], ({ log }) => log.level);
  const steps: string[] = [];
  live.add({
    name: 'started',
    reads: ['log'],
    prepare: () => ({
      commit: () => void steps.push('committed'),
      undo: () => Promise.resolve(steps.push('undone')),
    }),
  });
  live.add({
    name: 'broken',
    reads: ['log'],
    prepare: () => {
      throw new RangeError('no');
    },
  });
  await expect(live.apply(config('debug'), ['log.level'])).rejects.toThrow(RangeError);
  expect(steps).toEqual(['undone']);
  expect([level.value, live.value.log.level]).toEqual(['info', 'info']);
});
