import { expect, test } from '@jest/globals';
import { LineBatch } from '../../src/observability/line-batch.ts';
import { jsonLogger } from '../../src/observability/logger.ts';

test('a JSON line has its level, event, time and fields, and those that all lines carry', () => {
  const lines: string[] = [];
  const logger = jsonLogger('info', (line) => lines.push(line)).with({ shop: 'acme' });
  logger.warn('chat.refused', { code: 'busy', absent: undefined });
  logger.debug('chat.detail');
  logger.info('line\nbreak');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    {
      level: 'warn',
      message: 'chat.refused',
      shop: 'acme',
      code: 'busy',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
    expect.objectContaining({ level: 'info', message: 'line\nbreak' }),
  ]);
  expect(lines.every((line) => !line.includes('\n'))).toBe(true);
});

test('the lines of one turn are written together, in order, and what is left by flush', async () => {
  const written: string[] = [];
  const batch = new LineBatch((text) => written.push(text));
  batch.add('one');
  batch.add('two');
  expect(written).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(['one\ntwo\n']);
  batch.add('three');
  batch.flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});
