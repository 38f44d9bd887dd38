import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { tempDir } from '../support/temp-dir.ts';
import { startGateway } from '../support/running-gateway.ts';
import { ScriptedPlatform } from '../support/scripted-platform.ts';

const FOLDER = fileURLToPath(new URL('../../config/observability/', import.meta.url));
const read = (name: string): string => readFileSync(FOLDER + name, 'utf8');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const datasource = z.object({ type: z.string(), uid: z.string() });
const panel = z.object({
  id: z.number(),
  type: z.enum(['row', 'timeseries', 'stat']),
  title: z.string().min(2),
  description: z.string().optional(),
  gridPos: z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
  datasource: datasource.optional(),
  targets: z.array(z.object({ refId: z.string(), expr: z.string().min(5), datasource })).optional(),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
});
const dashboard = z
  .object({
    uid: z.string().min(1),
    title: z.string().min(1),
    schemaVersion: z.number().min(39),
    templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
    panels: z.array(panel),
  })
  .parse(JSON.parse(read('grafana-dashboard.json')));

const rules = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            labels: z.object({ severity: z.enum(['warning', 'critical']) }),
            annotations: z.object({ summary: z.string(), runbook: z.string().min(20) }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('alerts.rules.yml')))
  .groups.flatMap((group) => group.rules);

const shown = dashboard.panels.filter(({ type }) => type !== 'row');
const expressions = [
  ...shown.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...rules.map(({ expr }) => expr),
];

/** What a running gateway exposes. */
let exposed: string;
beforeAll(async () => {
  const dir = tempDir();
  const platform = new ScriptedPlatform();
  const gateway = await startGateway({ dataDir: dir.path, platformUrl: await platform.start() });
  try {
    const answer = await fetch(`${gateway.adminUrl}/metrics`, {
      headers: { authorization: 'Bearer of-the-console', connection: 'close' },
    });
    expect(answer.status).toBe(200);
    exposed = await answer.text();
  } finally {
    await gateway.stop();
    await platform.stop();
    dir.remove();
  }
});

test('every metric of dashboard and rules is exposed by a running gateway', () => {
  const names = new Set(
    [...exposed.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    ),
  );
  const used = expressions.flatMap((expr) => expr.match(/\b(?:sluice|process|nodejs)_\w+/g) ?? []);
  expect(used.length).toBeGreaterThan(50);
  expect([...new Set(used)].filter((name) => !names.has(name))).toEqual([]);
});

test('labels by which dashboard and rules choose and group are labels of those metrics', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)),
    'utf8',
  );
  const known = new Set(['le', 'instance', 'job']);
  for (const [, labels = ''] of page.matchAll(/^\| `sluice_\w+` +\|[^|]*\|([^|]*)\|/gm)) {
    for (const [, label = ''] of labels.matchAll(/`(\w+)`/g)) known.add(label);
  }
  const used = expressions.flatMap((expr) => [
    ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
    ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
  ]);
  expect([...new Set(used)].filter((label) => !known.has(label))).toEqual([]);
});

describe('the dashboard', () => {
  test('has unique ids and titles, and a data source that is chosen', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const titles = shown.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    expect(dashboard.templating.list).toContainEqual({ name: 'datasource', type: 'datasource' });
    for (const { datasource: source, targets = [] } of shown) {
      for (const each of [source, ...targets.map((target) => target.datasource)]) {
        expect(each).toEqual({ type: 'prometheus', uid: '${datasource}' });
      }
    }
  });

  test('has a row for each part of the way, and panels with a query, a unit and a description', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    for (const part of ['Flow', 'Latency', 'Queue', 'Platform', 'Channels', 'Store', 'Process']) {
      expect(rows).toContain(part);
    }
    for (const { title, description, targets = [], fieldConfig } of shown) {
      expect({ title, described: (description ?? '').length > 10 }).toEqual({
        title,
        described: true,
      });
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      expect(fieldConfig?.defaults.unit).toBeTruthy();
    }
  });

  test('has no panel over another, and none beyond the 24 columns', () => {
    for (const [index, { gridPos: a }] of dashboard.panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of dashboard.panels.slice(index + 1)) {
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect({ a, b, apart }).toEqual({ a, b, apart: true });
      }
    }
  });
});

test('each alert rule has a name of its own', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

/** Skipped where Debian's package prometheus is not installed; npm test says so. */
describe(hasPromtool ? 'promtool' : 'promtool is NOT INSTALLED (package prometheus)', () => {
  const promtool = (args: string[], input?: string) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: FOLDER,
      encoding: 'utf8',
      ...(input !== undefined && { input }),
    });
    return { status, said: `${stdout}${stderr}` };
  };
  const check = hasPromtool ? test : test.skip;

  check('checks the rules and the configuration', () => {
    expect(promtool(['check', 'rules', 'alerts.rules.yml'])).toMatchObject({ status: 0 });
    // Its password file is the operator's to write.
    const { said } = promtool(['check', 'config', '--syntax-only', 'prometheus.yml']);
    expect(said).toMatch(/prometheus\.yml is valid|SUCCESS/);
  });

  check('runs the tests of the rules', () => {
    expect(promtool(['test', 'rules', 'alerts.test.yml'])).toMatchObject({ status: 0 });
  });

  check('finds nothing to say about our metrics', () => {
    // Node's own metrics come as their library names them.
    const ours = exposed
      .split('\n')
      .filter((line) => /^(?:# (?:HELP|TYPE) )?sluice_/.test(line))
      .join('\n');
    expect(promtool(['check', 'metrics'], `${ours}\n`)).toEqual({ status: 0, said: '' });
  });
});
