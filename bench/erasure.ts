// npm run bench -- erasure [--entries 1000000] [--kills 20] [--database] [--seed N]: erases two persons with a hundred
// mails each among a million entries, beside a gateway that takes in mail: the first at once, the second with a command that is killed at random moments. Is anything of them left, does anybody else lose anything, and how long do
// senders wait meanwhile? With --database the store is PostgreSQL. Exit code 1 if a goal is missed.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Sqlite from 'better-sqlite3';
import nodemailer from 'nodemailer';
import { startCluster, withClient } from '../test/support/postgres-cluster.ts';
import { Dice } from '../test/support/dice.ts';
import { fill } from './console/fill.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { runProgram } from './support/run-program.ts';
import { BENCH_DOMAIN } from './support/smtp-source.ts';
import { percentile } from './support/statistics.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '20' },
    database: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
  },
});
const [entries, kills] = [Number(values.entries), Number(values.kills)];
const dice = Dice.of(Number(values.seed));
const MAIN = join(import.meta.dirname, '../dist/main.js');
const GOAL_SECONDS = 60;
const GOAL_ACK_MS = 3000;
const PAUSE_MS = 20;
const PERSONS = ['ann.lee@elsewhere.example', 'ben.ode@elsewhere.example'] as const;
const MAILS_EACH = 100;
const isAbout = PERSONS.map((address) => `row LIKE '%${address}%'`).join(' OR ');

/** Rows of any table, read as text, by SQL alone. */
type Count = (table: string, where: string) => Promise<number>;
interface Reader {
  readonly tables: readonly string[];
  readonly count: Count;
}

async function ofFolder<T>(dir: string, read: (reader: Reader) => Promise<T>): Promise<T> {
  const db = new Sqlite(join(dir, 'spool.db'), { readonly: true });
  try {
    const named = db
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`)
      .all();
    const count: Count = (table, where) => {
      const columns = db.prepare(`SELECT * FROM "${table}" LIMIT 0`).columns();
      const row = columns
        .map(({ name }) => `coalesce(CAST("${name}" AS TEXT), '')`)
        .join(` || ' ' || `);
      const sql = `SELECT count(*) AS n FROM (SELECT ${row} AS row FROM "${table}") WHERE ${where}`;
      return Promise.resolve(db.prepare<[], { n: number }>(sql).get()?.n ?? 0);
    };
    return await read({ tables: named.map(({ name }) => name), count });
  } finally {
    db.close();
  }
}

const ofDatabase = <T>(url: string, read: (reader: Reader) => Promise<T>): Promise<T> =>
  withClient(url, async (client) => {
    const named = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()
         AND table_type = 'BASE TABLE'`,
    );
    const count: Count = async (table, where) => {
      // A column of bytes is shown as hex digits: read as Latin-1, which has every byte.
      const { rows } = await client.query<{ name: string; type: string }>(
        `SELECT column_name AS name, data_type AS type FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = $1`,
        [table],
      );
      const texts = rows.map(({ name, type }) =>
        type === 'bytea' ? `encode("${name}", 'escape')` : `"${name}"::text`,
      );
      const row = texts.map((text) => `coalesce(${text}, '')`).join(` || ' ' || `);
      const found = await client.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM (SELECT ${row} AS row FROM "${table}") AS t WHERE ${where}`,
      );
      return found.rows[0]?.n ?? 0;
    };
    return read({ tables: named.rows.map(({ name }) => name), count });
  });

const rowsAbout = async ({ tables, count }: Reader): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const table of tables) {
    const rows = await count(table, isAbout);
    if (rows > 0) found[table] = rows;
  }
  return found;
};

const connected = ({ smtpPort }: Gateway) =>
  nodemailer.createTransport({
    ...{ host: '127.0.0.1', port: smtpPort, pool: true, maxConnections: 1, ignoreTLS: true },
  });

async function write(gateway: Gateway): Promise<void> {
  const transport = connected(gateway);
  for (let mail = 0; mail < MAILS_EACH; mail += 1) {
    for (const from of PERSONS) {
      const words = `Where is my order ${mail}? Write to ${from}.`;
      await transport.sendMail({
        from,
        to: `support@${BENCH_DOMAIN}`,
        subject: `Order ${mail}`,
        text: words,
      });
    }
  }
  transport.close();
}

/** Sends one mail after the other until it is stopped; resolves with the times until each was acknowledged. */
function sender(gateway: Gateway): () => Promise<number[]> {
  const transport = connected(gateway);
  const times: number[] = [];
  const stopped = new AbortController();
  const sending = (async () => {
    while (!stopped.signal.aborted) {
      const begunAt = performance.now();
      await transport.sendMail({
        ...{ from: `x${times.length}@client.example`, to: `support@${BENCH_DOMAIN}` },
        ...{ subject: 'Hello', text: 'Where is my order?' },
      });
      times.push(performance.now() - begunAt);
      await delay(PAUSE_MS);
    }
    transport.close();
  })();
  return async () => {
    stopped.abort();
    await sending;
    return times;
  };
}

/** Runs the command until it ends by itself; before, it is killed so many times within as many seconds. */
async function erase({ configFile }: Gateway, address: string, killed: number, within: number) {
  const args = [MAIN, 'erase', '--address', address, '--yes', '--json', '--config', configFile];
  for (let left = killed; left > 0; left -= 1) {
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([ended, delay(dice.below(Math.round(within * 1000)))]);
    child.kill('SIGKILL');
    await ended;
  }
  const begunAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  // Its exit code also says that a large database is rewritten later.
  if (!output.includes('"erased": true')) throw new Error(`nothing was erased: ${output}`);
  return { seconds: (performance.now() - begunAt) / 1000 };
}

function judge(name: string, isGood: boolean, found: string): void {
  console.log(`${isGood ? 'PASS' : 'FAIL'} ${name}: ${found}`);
  if (!isGood) process.exitCode = 1;
}

async function migrated(bench: Workbench, dir: string): Promise<string> {
  const cluster = await startCluster({
    settings: [`max_wal_size = '4GB'`, `shared_buffers = '256MB'`],
  });
  bench.onEnd('PostgreSQL', () => cluster.stop());
  const url = await cluster.createDatabase();
  const idle = await startGateway(bench, { ...CLOSED, dataDir: dir });
  await idle.stop();
  await runProgram(process.execPath, [MAIN, 'migrate', '--to', url, '--config', idle.configFile]);
  return url;
}

const CLOSED = { platformUrl: 'http://127.0.0.1:9', paused: true };

await withWorkbench(async (bench) => {
  console.log(`seed ${values.seed} (the same again: --seed ${values.seed})`);
  const dir = await bench.folder();
  fill(dir, entries);
  const spoolUrl = values.database ? await migrated(bench, dir) : undefined;
  const read = <T>(work: (reader: Reader) => Promise<T>): Promise<T> =>
    spoolUrl === undefined ? ofFolder(dir, work) : ofDatabase(spoolUrl, work);
  const others = (reader: Reader) =>
    reader.count(
      values.database ? 'entry' : 'summaries',
      `NOT (${isAbout}) AND row NOT LIKE '%@client.example%'`,
    );
  const gateway = await startGateway(bench, {
    ...CLOSED,
    dataDir: dir,
    ...(spoolUrl && { spoolUrl }),
  });
  await write(gateway);
  const [before, there] = await read(
    async (reader) => [await rowsAbout(reader), await others(reader)] as const,
  );
  console.log(`before: ${JSON.stringify(before)}, ${there} entries of others`);
  const stop = sender(gateway);
  const atOnce = await erase(gateway, PERSONS[0], 0, 0);
  const killedRun = await erase(gateway, PERSONS[1], kills, atOnce.seconds * 1.1);
  const times = await stop();
  await gateway.stop();
  const config = ['--config', gateway.configFile];
  const rewritten = await runProgram(process.execPath, [MAIN, 'erase', '--finish', ...config]);
  console.log(`rewritten without a gateway: ${rewritten.seconds.toFixed(1)} s`);

  const [after, left] = await read(
    async (reader) => [await rowsAbout(reader), await others(reader)] as const,
  );
  const p99 = percentile(times, 0.99);
  judge(
    'one person',
    atOnce.seconds <= GOAL_SECONDS,
    `${atOnce.seconds.toFixed(1)} s (goal ${GOAL_SECONDS} s)`,
  );
  judge(
    `killed ${kills} times`,
    killedRun.seconds <= GOAL_SECONDS,
    `the last run ${killedRun.seconds.toFixed(1)} s`,
  );
  judge(
    'acknowledgements',
    p99 <= GOAL_ACK_MS,
    `p99 ${p99.toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms, of ${times.length} (goal ${GOAL_ACK_MS} ms)`,
  );
  judge('rows about them', Object.keys(after).length === 0, JSON.stringify(after));
  judge('others', left === there, `${left} of ${there}`);
});
