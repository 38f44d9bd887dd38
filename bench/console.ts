/**
 * npm run bench -- console [--quick] [--json] [--only WORDS]
 *
 * Measures how long a search among 1,000,000 entries of all channels takes, through the store and
 * through the console's API; what indexing costs per email; and whether intake keeps its speed
 * while the index catches up.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Table from 'cli-table3';
import type { EntryIndex, EntrySearch } from '../src/spool/entry-index.ts';
import { SearchThreads } from '../src/spool/search/search-threads.ts';
import { openSqliteStore } from '../src/spool/sqlite/open.ts';
import { type EntryCost, entryCost } from './console/entry-cost.ts';
import { fill } from './console/fill.ts';
import { intakeBesideIndex } from './console/intake-beside-index.ts';
import { type Scenario, scenarios } from './console/scenarios.ts';
import { ADMIN_PASSWORD, startGateway } from './support/gateway.ts';
import { readOptions } from './support/options.ts';
import { toMiB } from './support/process-memory.ts';
import { median, percentile } from './support/statistics.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const MEDIAN_BELOW_MS = 200;
const LIMIT = 50;
const COUNTED_UP_TO = 10_000;
const INTAKE_AT_LEAST = 0.8;
/** Limits for the processor time per 2 KB email: before its acknowledgement, and in total. */
const INTAKE_BELOW_US = 30;
const ALL_BELOW_US = 60;
const COST_ROUNDS = 10;

const options = readOptions();
const count = options.quick ? 50_000 : 1_000_000;
const times = options.quick ? 20 : 100;

interface Result {
  readonly name: string;
  readonly by: 'store' | 'API';
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly rows: number;
}
/** Makes one search; resolves with the number of entries. */
type Ask = (search: Omit<EntrySearch, 'limit'>, count: boolean) => Promise<number>;

await withWorkbench(async (bench) => {
  const dir = await bench.folder();
  const started = performance.now();
  const filled = fill(dir, count);
  console.error(`filled in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const asked = scenarios(filled).filter(({ name }) => name.includes(options.only));
  const results = [...(await byStore(dir, asked)), ...(await byApi(bench, dir, asked))];
  const sizes = await Promise.all(
    ['spool.db', 'search/search.db'].map(async (file) => (await stat(join(dir, file))).size),
  );
  const intake = options.only === '' ? await intakeBesideIndex(bench, options.quick) : undefined;
  const cost =
    options.only === ''
      ? entryCost(await bench.folder(), options.quick ? 3 : COST_ROUNDS)
      : undefined;
  report(results, sizes, intake, cost);
});

async function byStore(dir: string, asked: readonly Scenario[]): Promise<Result[]> {
  const { spool } = await openSqliteStore({ dir, role: 'owner', reserveBytes: 0 });
  const index = new SearchThreads({ dir, role: 'owner' });
  try {
    const results = await measureAll('store', asked, (search, counted) =>
      ask(index, search, counted),
    );
    results.push(await measurePaging(index));
    return results;
  } finally {
    await index.close();
    await spool.close();
  }
}

async function ask(
  index: EntryIndex,
  search: Omit<EntrySearch, 'limit'>,
  counted: boolean,
): Promise<number> {
  const { before: _before, ...filters } = search;
  const [{ found }] = await Promise.all([
    index.find({ ...search, limit: LIMIT }),
    counted ? index.count(filters, COUNTED_UP_TO) : undefined,
  ]);
  return found.length;
}

/** Reads every page of the dead entries. */
async function measurePaging(index: EntryIndex): Promise<Result> {
  const latencies: number[] = [];
  let rows = 0;
  let before: EntrySearch['before'];
  do {
    const started = performance.now();
    const page = await index.find({
      states: ['dead'],
      limit: LIMIT,
      ...(before && { before }),
    });
    latencies.push(performance.now() - started);
    rows += page.found.length;
    before = page.next;
  } while (before !== undefined);
  return resultOf('all pages of state dead', 'store', latencies, rows);
}

async function byApi(bench: Workbench, dir: string, asked: readonly Scenario[]): Promise<Result[]> {
  const gateway = await startGateway(bench, {
    platformUrl: 'http://127.0.0.1:9',
    paused: true,
    dataDir: dir,
  });
  const url = `http://127.0.0.1:${gateway.adminPort}/api/entries`;
  try {
    return await measureAll('API', asked, async (search, counted) => {
      const { states, shopId, ...rest } = search;
      const query = new URLSearchParams({ limit: String(LIMIT), ...(counted && { count: '1' }) });
      for (const [key, value] of Object.entries(rest)) query.set(key, String(value));
      if (shopId !== undefined) query.set('shop', shopId);
      for (const state of states ?? []) query.append('state', state);
      const answer = await fetch(`${url}?${query.toString()}`, {
        headers: { authorization: `Bearer ${ADMIN_PASSWORD}` },
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`the API answered ${answer.status}: ${text.slice(0, 200)}`);
      // The answer of `GET /api/entries` (src/console/contract.ts).
      return (JSON.parse(text) as { entries: unknown[] }).entries.length;
    });
  } finally {
    await gateway.stop();
  }
}

async function measureAll(
  by: Result['by'],
  asked: readonly Scenario[],
  one: Ask,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, ask: nth, count: counted = false } of asked) {
    const latencies: number[] = [];
    let rows = 0;
    for (let n = 0; n < times; n += 1) {
      const started = performance.now();
      rows = Math.max(rows, await one(nth(n), counted));
      latencies.push(performance.now() - started);
    }
    const result = resultOf(name, by, latencies, rows);
    results.push(result);
    console.error(`${by}: ${name}: ${result.medianMs.toFixed(1)} ms, ${rows} rows`);
  }
  return results;
}

function resultOf(
  name: string,
  by: Result['by'],
  latencies: readonly number[],
  rows: number,
): Result {
  return { name, by, medianMs: median(latencies), p95Ms: percentile(latencies, 0.95), rows };
}

function report(
  results: readonly Result[],
  sizes: readonly number[],
  intake: number | undefined,
  cost: EntryCost | undefined,
) {
  const slow = results.filter(({ medianMs }) => medianMs >= MEDIAN_BELOW_MS);
  const kept = intake === undefined || intake >= INTAKE_AT_LEAST;
  const isCheap =
    cost === undefined ||
    (cost.intake < INTAKE_BELOW_US && cost.intake + cost.index < ALL_BELOW_US);
  if (slow.length > 0 || !kept || !isCheap) process.exitCode = 1;
  if (options.json) {
    console.log(JSON.stringify({ count, results, sizes, intake, cost }, null, 2));
    return;
  }
  const table = new Table({
    head: [`search among ${count}`, 'by', 'median', '95th', 'rows', `under ${MEDIAN_BELOW_MS} ms`],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'right', 'right', 'right', 'left'],
  });
  for (const { name, by, medianMs, p95Ms, rows } of results) {
    const verdict = medianMs < MEDIAN_BELOW_MS ? 'PASS' : 'FAIL';
    table.push([name, by, `${medianMs.toFixed(1)} ms`, `${p95Ms.toFixed(1)} ms`, rows, verdict]);
  }
  console.log(table.toString());
  const [spool = 0, search = 0] = sizes;
  console.log(`spool.db ${toMiB(spool)}, search.db ${toMiB(search)}`);
  if (cost !== undefined) {
    console.log(
      `${isCheap ? 'PASS' : 'FAIL'} an email costs ${cost.intake.toFixed(1)} µs of processor time at ` +
        `intake (goal ${INTAKE_BELOW_US}), ${(cost.intake + cost.index).toFixed(1)} µs all told (goal ${ALL_BELOW_US})`,
    );
  }
  if (intake === undefined) return;
  console.log(
    `${kept ? 'PASS' : 'FAIL'} intake while the index catches up = ${intake.toFixed(2)} x intake ` +
      `without an index (goal ${INTAKE_AT_LEAST})`,
  );
}
