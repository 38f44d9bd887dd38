import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { errorFields } from '../../src/observability/logger.ts';
import { jsonLogger } from '../../src/observability/winston-logger.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a JSON line has its level, event, time and fields, and those that all lines carry', async () => {
  const written: string[] = [];
  const logger = jsonLogger('info', (text) => written.push(text)).with({ shop: 'acme' });
  logger.warn('chat.refused', { code: 'busy', absent: undefined });
  logger.debug('chat.detail');
  logger.info('line\nbreak');
  await turn();
  const lines = written.join('').trimEnd().split('\n');
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
});

test('the lines of one turn are written together, in order', async () => {
  const written: string[] = [];
  const logger = jsonLogger('info', (text) => written.push(text));
  const events = (): string[][] =>
    written.map((text) => [...text.matchAll(/"message":"(\w+)"/g)].map(([, event = '']) => event));
  logger.info('one');
  logger.info('two');
  expect(written).toEqual([]);
  await turn();
  logger.info('three');
  await turn();
  expect(events()).toEqual([['one', 'two'], ['three']]);
});

test('what a program logs last is written before it ends', () => {
  const program = `
    import { createLogger } from '${new URL('../../dist/observability/winston-logger.js', import.meta.url).href}';
    createLogger({ level: 'info', format: 'json' }).info('last');
    process.exit(0);`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  expect(String(stderr)).toContain('"message":"last"');
});

test('too few descriptors are logged with what to do, at whichever depth they were the cause', () => {
  const emfile = Object.assign(new Error('open'), { code: 'EMFILE' });
  for (const error of [emfile, new Error('store', { cause: emfile })]) {
    expect(errorFields(error)['todo']).toMatch(/LimitNOFILE=65536.*ulimit -n/);
  }
  expect(errorFields(new Error('other'))).not.toHaveProperty('todo');
});
