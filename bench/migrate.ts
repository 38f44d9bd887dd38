// npm run bench -- migrate [--entries 1000000] [--blobs 50000] [--kills 20] [--within 15] [--seed N]: moves a data folder
// to PostgreSQL and back with `sluice migrate`, which is killed at random moments within --within seconds of its starts.
// Is anything lost or changed, and how long does it take? Exit code 1 if anything differs, or a goal is missed.
import { spawn } from 'node:child_process';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Sqlite from 'better-sqlite3';
import { asShopId } from '../src/domain/ids.ts';
import { laneHash, remoteHash } from '../src/spool/hashes.ts';
import { openDatabase } from '../src/spool/sqlite/database.ts';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { processSeconds } from './support/process-time.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    blobs: { type: 'string', default: '50000' },
    kills: { type: 'string', default: '20' },
    within: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
  },
});
const entries = Number(values.entries);
const blobs = Number(values.blobs);
const BLOB_BYTES = 20_000;
const RAW_BYTES = 1000;
const GOAL_SECONDS = 300;
const MAIN = join(import.meta.dirname, '../dist/main.js');
const SHOP = asShopId('00000000-0000-4000-8000-000000000001');

/** Of the same seed, the same numbers from 0 to 1 (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
const random = dice(Number(values.seed));

/** A folder of a gateway that has run for months: most is delivered, some waits, is dead or held. */
async function build(dir: string): Promise<void> {
  await mkdir(join(dir, 'blobs'), { recursive: true });
  const db = openDatabase(join(dir, 'spool.db'));
  db.pragma('synchronous = OFF');
  const entry = db.prepare(
    `INSERT INTO entries (seq, id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id, remote_hash,
       received_at, meta, state, filed, in_lane, attempts, last_attempt_at, next_attempt_at, settled_at,
       reason, platform_message_id, raw_size, raw_checksum)
     VALUES (?, ?, 'message', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ${RAW_BYTES}, 7)`,
  );
  const raw = db.prepare('INSERT INTO raws VALUES (?, ?)');
  const steps = db.prepare('INSERT INTO timeline VALUES (?, 1, ?, ?)');
  const record = db.prepare('INSERT INTO records VALUES (?, ?)');
  const summary = db.prepare('INSERT INTO summaries VALUES (?, 1, ?, ?, ?, ?)');
  const conversation = db.prepare('INSERT OR IGNORE INTO conversations VALUES (?, ?, ?, ?, ?)');
  const begin = Date.now() - 90 * 24 * 3_600_000;
  for (let from = 1; from <= entries; from += 10_000) {
    db.transaction(() => {
      for (let seq = from; seq < from + 10_000 && seq <= entries; seq += 1) {
        const channel = (['email', 'email', 'sms'] as const)[seq % 3] ?? 'email';
        const lane = `customer${seq % 97_003}@example.com support@acme.example`;
        const state =
          random() < 0.9 ? 'delivered' : (['queued', 'queued', 'dead', 'held'][seq % 4] ?? '');
        const at = begin + seq * 7;
        const isSettled = state === 'delivered' || state === 'dead';
        entry.run(
          ...[seq, randomUUID(), SHOP, channel, lane, laneHash({ shopId: SHOP, channel, lane })],
          ...[
            randomBytes(16),
            `<${seq}@example.com>`,
            remoteHash(SHOP, `<${seq}@example.com>`),
            at,
          ],
          ...[`{"n":${seq}}`, state, state === 'queued' ? 1 : 0, 1, at, at, isSettled ? at : null],
          state === 'delivered' ? null : '{"code":"other","params":{"text":"no"}}',
          state === 'delivered' ? randomUUID() : null,
        );
        raw.run(seq, randomBytes(RAW_BYTES));
        steps.run(
          seq,
          at,
          JSON.stringify([
            { at, step: 'sent' },
            { at, step: state },
          ]),
        );
        record.run(seq, JSON.stringify({ request: { text: 'x'.repeat(400) }, attachments: [] }));
        summary.run(seq, lane, 'support@acme.example', `Order ${seq}`, '');
        if (seq % 10 === 0) conversation.run(SHOP, channel, lane, randomUUID(), at);
      }
    })();
    db.pragma('wal_checkpoint(TRUNCATE)');
  }
  db.exec(
    `UPDATE entries SET claimable = 1 WHERE seq IN (SELECT min(seq) FROM entries WHERE in_lane = 1 GROUP BY lane_hash)`,
  );
  await buildUploads(db, dir);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

async function buildUploads(db: Sqlite.Database, dir: string): Promise<void> {
  const visitor = db.prepare(
    'INSERT INTO visitors (no, shop, id, last_seq, created_at) VALUES (?, ?, ?, 1, ?)',
  );
  const line = db.prepare(
    `INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state)
     VALUES (?, 1, 'visitor', ?, 'hello', 'TEXT', '[]', ?, 'delivered')`,
  );
  const upload = db.prepare(
    `INSERT INTO uploads (id, shop, visitor, name, type, size, blob, at)
     VALUES (?, ?, ?, 'a.png', 'image/png', ${BLOB_BYTES}, ?, ?)`,
  );
  for (let no = 1; no <= blobs; no += 1) {
    const [id, blob] = [randomBytes(16).toString('hex'), randomUUID()];
    visitor.run(no, SHOP, id, no);
    line.run(no, randomUUID(), no);
    upload.run(randomUUID(), SHOP, id, blob, Date.now());
    await writeFile(join(dir, 'blobs', blob), randomBytes(BLOB_BYTES));
  }
}

interface Run {
  readonly seconds: number;
  readonly kills: number;
  /** Of the command, in all its runs. */
  readonly processor: number;
}

/** Runs the command until it ends by itself; before, it is killed so many times. */
async function migrate(args: readonly string[], kills: number): Promise<Run> {
  const begunAt = performance.now();
  let processor = 0;
  for (let killed = 0; ; killed += 1) {
    const child = spawn(process.execPath, [MAIN, 'migrate', ...args], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    const killAfter = killed < kills ? 500 + random() * Number(values.within) * 1000 : Infinity;
    let used = 0;
    const startedAt = performance.now();
    while (child.exitCode === null && performance.now() - startedAt < killAfter) {
      used = await processSeconds(child.pid ?? 0).catch(() => used);
      await Promise.race([ended, delay(100)]);
    }
    processor += used;
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await ended;
      continue;
    }
    if (child.exitCode !== 0) throw new Error(`sluice migrate ended with ${child.exitCode}`);
    return { seconds: (performance.now() - begunAt) / 1000, kills: killed, processor };
  }
}

const TABLES: Readonly<Record<string, string>> = {
  entries: `seq, id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id, remote_hash, received_at, meta,
    state, filed, in_lane, claimable, detached, released, attempts, failing_ms, last_attempt_at, next_attempt_at,
    reason, settled_at, platform_message_id, conversation_id, raw_size, blob, has_raw, waits, failures, notes,
    raw_checksum`,
  visitors: '*',
  journal: 'visitor, seq, sender, message_id, text, format, attachments, at, state',
  ...Object.fromEntries(
    ['raws', 'timeline', 'records', 'summaries', 'conversations', 'uploads'].map((name) => [
      name,
      '*',
    ]),
  ),
};

/** What differs between two folders, by SQL alone. */
async function differences(one: string, other: string): Promise<string[]> {
  const db = new Sqlite(join(one, 'spool.db'), { readonly: true });
  db.prepare('ATTACH ? AS other').run(join(other, 'spool.db'));
  const found: string[] = [];
  for (const [name, columns] of Object.entries(TABLES)) {
    for (const [here, there] of [
      ['main', 'other'],
      ['other', 'main'],
    ] as const) {
      const row = db
        .prepare<[], { n: number }>(
          `SELECT count(*) AS n FROM (SELECT ${columns} FROM ${here}.${name} EXCEPT SELECT ${columns} FROM ${there}.${name})`,
        )
        .get();
      if (row?.n !== 0) found.push(`${row?.n ?? 0} rows of ${name}`);
    }
  }
  db.close();
  const names = await readdir(join(one, 'blobs'));
  const others = new Set(await readdir(join(other, 'blobs')));
  if (others.size !== names.length) found.push('the number of blobs');
  for (const name of names) {
    const [here, there] = await Promise.all(
      [one, other].map((dir) => readFile(join(dir, 'blobs', name)).catch(() => Buffer.alloc(0))),
    );
    if (here === undefined || there === undefined || !here.equals(there)) found.push(name);
  }
  return found;
}

await withWorkbench(async (bench) => {
  console.log(`seed ${values.seed} (the same again: --seed ${values.seed})`);
  const root = await bench.folder();
  const [dir, back] = [join(root, 'data'), join(root, 'back')];
  await build(dir);
  console.log(`built: ${entries} entries, ${blobs} blobs of ${BLOB_BYTES / 1000} KB`);
  const cluster = await startCluster({
    settings: [`max_wal_size = '4GB'`, `shared_buffers = '256MB'`],
  });
  bench.onEnd('PostgreSQL', () => cluster.stop());
  const url = await cluster.createDatabase();
  const config = async (spoolUrl: string) => {
    const file = join(root, `${spoolUrl === 'sqlite' ? 'folder' : 'database'}.yaml`);
    await writeFile(file, `dataDir: ${dir}\nspool:\n  url: ${spoolUrl}\n`);
    return ['--config', file];
  };
  await writeFile(join(dir, 'keys.json'), '{}');
  const kills = Number(values.kills);
  const there = await migrate(['--to', url, ...(await config('sqlite'))], kills);
  const again = await migrate(['--to', back, ...(await config(url))], kills);
  const found = await differences(dir, back);
  const line = (name: string, { seconds, kills: killed, processor }: Run) => {
    const verdict = seconds <= GOAL_SECONDS ? 'PASS' : 'FAIL';
    return `${verdict} ${name}: ${seconds.toFixed(0)} s with ${killed} kills (goal ${GOAL_SECONDS} s), ${processor.toFixed(0)} s of processor time`;
  };
  console.log(line('to PostgreSQL', there));
  console.log(line('and back', again));
  console.log(
    found.length === 0 ? 'PASS both folders are equal' : `FAIL ${found.slice(0, 9).join(', ')}`,
  );
  const isSlow = [there, again].some(({ seconds }) => seconds > GOAL_SECONDS);
  if (found.length > 0 || isSlow) process.exitCode = 1;
});
