import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { AlertRecord } from '../../../src/operations/alerts/alert.ts';
import { IncidentLog } from '../../../src/operations/alerts/incident-log.ts';
import { durableFiles } from '../../../src/runtime/durable-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

let path: string;
let remove: () => void;
let now: number;
let warnings: string[];
beforeEach(() => {
  const dir = tempDir();
  remove = dir.remove;
  path = join(dir.path, 'incidents.json');
  now = 1000;
  warnings = [];
});

afterEach(() => remove());

const open = () =>
  IncidentLog.open({
    ...{ path, files: durableFiles, clock: () => now },
    logger: {
      ...silentLogger,
      warn: (event: string) => void warnings.push(event),
    },
  });

const record = (key: string, change: Partial<AlertRecord> = {}): AlertRecord => ({
  ...{ key, rule: 'disk', severity: 'critical', summary: `${key} is full`, todo: 'free space' },
  ...{ phase: 'firing', since: now - 500, changedAt: now, told: {} },
  ...change,
});

test('an alert lasts from its beginning until it no longer fires, over a restart', async () => {
  const log = await open();
  log.started();
  log.firing([record('a'), record('b', { phase: 'pending' })]);
  log.firing([record('a')]);
  await log.stop();
  now = 5000;
  const next = await open();
  next.started();
  next.firing([record('a', { since: 500 })]);
  next.reloaded('3 changed', 'maria');
  now = 9000;
  next.firing([record('a', { phase: 'resolved' })]);
  expect(next.all).toEqual([
    { kind: 'start', at: 1000 },
    {
      ...{ kind: 'alert', at: 500, until: 9000, key: 'a', rule: 'disk', severity: 'critical' },
      summary: 'a is full',
    },
    { kind: 'start', at: 5000 },
    { kind: 'reload', at: 5000, outcome: '3 changed', who: 'maria' },
  ]);
  await next.stop();
  expect((await open()).all).toEqual(next.all);
  expect(warnings).toEqual([]);
});

test('of many incidents, the latest are kept', async () => {
  const log = await open();
  for (let n = 0; n < 600; n += 1) {
    now = n;
    log.started();
  }
  await log.stop();
  const { all } = await open();
  expect(all).toHaveLength(500);
  expect(all[0]?.at).toBe(100);
});

test('a file that cannot be read is replaced, with a warning', async () => {
  writeFileSync(path, '{"version": 2}');
  const log = await open();
  expect(log.all).toEqual([]);
  expect(warnings).toEqual(['incidents.unreadable']);
  log.started();
  await log.stop();
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ version: 1 });
});

test('without a writable folder, incidents are kept in memory', async () => {
  path = join(path, 'missing', 'incidents.json');
  const log = await open();
  log.started();
  await log.stop();
  expect(log.all).toHaveLength(1);
  expect(warnings).toContain('incidents.not_written');
});
