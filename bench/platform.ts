/**
 * npm run bench -- platform [--quick] [--json] [--only WORDS] [--profile FOLDER]
 *
 * Measures the local platform with 1,000,000 stored messages: how long lists, counts and creates
 * take over real HTTP, one request after the other, including the generator's time; and the size of
 * the database.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Table from 'cli-table3';
import { type Amounts, fill, type FilledShop } from './platform/fill.ts';
import { type Asked, type Group, GROUPS, scenarios } from './platform/scenarios.ts';
import type * as StoredPlatform from './platform/stored-platform.ts';
import { readOptions } from './support/options.ts';
import { toMiB } from './support/process-memory.ts';
import { median, percentile } from './support/statistics.ts';
import { withWorkbench } from './support/workbench.ts';

const MEDIAN_BELOW_MS = 20;

const options = readOptions();
const times = options.quick ? 50 : 400;
const scale = options.quick ? 0.02 : 1;

const shop = (digit: number, amounts: Amounts): FilledShop & Amounts => ({
  shopId: `5b1f0c6e-9d3a-4c77-8a41-00000000000${digit}`,
  apiKey: `a-key-for-benchmarks-only-${digit}`,
  name: `Shop ${digit}`,
  ...amounts,
});
const large: Amounts = {
  conversations: 250_000 * scale,
  contacts: 150_000 * scale,
  messagesEach: 4,
};
const small: Amounts = { conversations: 5000 * scale, contacts: 3000 * scale, messagesEach: 4 };
const main = shop(1, large);
const shops = [main, shop(2, small), shop(3, small)];

interface Result {
  readonly name: string;
  readonly group: Group;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The largest number of rows in an answer. */
  readonly rows: number;
}

await withWorkbench(async (bench) => {
  const dir = await bench.folder();
  const started = performance.now();
  const { samples, cursors } = await fill(dir, shops);
  console.error(`filled in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const { profile } = options;
  const platform = await bench.part<typeof StoredPlatform>(
    new URL('./platform/stored-platform.ts', import.meta.url),
    { dir, shops },
    profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile],
  );
  const url = await platform.call('url');
  const results: Result[] = [];
  const cursorAt = (side: 'older' | 'newer', seq: number) =>
    cursors.format('messages', main.shopId, { side, seq });
  for (const scenario of scenarios(samples.get(main.shopId) ?? [], messagesOf(main), cursorAt)) {
    if (!scenario.name.includes(options.only)) continue;
    const { latencies, rows } = await measure(scenario.ask, url);
    const { name, group } = scenario;
    const result = { medianMs: median(latencies), p99Ms: percentile(latencies, 0.99) };
    results.push({ name, group, ...result, rows });
    console.error(`${name}: ${result.medianMs.toFixed(1)} ms`);
  }
  await platform.call('stop');
  const bytes = (await stat(join(dir, 'platform.sqlite'))).size;
  report(results, bytes);
});

function messagesOf({ conversations, messagesEach }: Amounts): number {
  return conversations * messagesEach;
}

/** Makes `times` requests after a few to warm up. */
async function measure(ask: (n: number) => Asked, url: string) {
  const latencies: number[] = [];
  let rows = 0;
  for (let n = -10; n < times; n += 1) {
    const asked = ask(n + 10);
    const started = performance.now();
    const body = await request(url, asked);
    if (n >= 0) latencies.push(performance.now() - started);
    rows = Math.max(rows, rowsIn(body));
  }
  return { latencies, rows };
}

async function request(url: string, { path, body, status }: Asked): Promise<unknown> {
  const response = await fetch(`${url}/v2026-04${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${main.apiKey}`,
      'x-shop-id': main.shopId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (response.status !== status) {
    throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  }
  return answer;
}

function rowsIn(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0;
  if ('count' in body && typeof body.count === 'number') return body.count;
  return 'results' in body && Array.isArray(body.results) ? body.results.length : 1;
}

function report(results: readonly Result[], bytes: number): void {
  const messages = shops.reduce((sum, each) => sum + messagesOf(each), 0);
  const slowest = GROUPS.map((group) => {
    const own = results.filter((result) => result.group === group);
    const [first] = own.toSorted((one, other) => other.medianMs - one.medianMs);
    return { group, slowest: first, met: (first?.medianMs ?? 0) < MEDIAN_BELOW_MS };
  });
  if (slowest.some(({ met }) => !met)) process.exitCode = 1;
  if (options.json) {
    console.log(JSON.stringify({ messages, bytes, results, slowest }, null, 2));
    return;
  }
  const table = new Table({
    head: ['milliseconds', 'median', '99th percentile', 'rows'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right'],
  });
  for (const { name, medianMs, p99Ms, rows } of results) {
    table.push([name, medianMs.toFixed(1), p99Ms.toFixed(1), rows]);
  }
  console.log(table.toString());
  for (const { group, slowest: worst, met } of slowest) {
    if (worst === undefined) continue;
    console.log(
      `${met ? 'PASS' : 'FAIL'} ${group}: ${worst.medianMs.toFixed(1)} ms at the median of the ` +
        `slowest, ${worst.name} (goal: under ${MEDIAN_BELOW_MS})`,
    );
  }
  console.log(`${messages} messages were stored; the database has ${toMiB(bytes)}`);
}
