import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { storeUrl } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { blobsUrl, spoolUrl } from '../config/network-fields.ts';
import { copyDurably } from '../operations/backup/files.ts';
import { counted, sizeInWords } from '../runtime/amounts.ts';
import { assertNotMoved } from '../spool/move.ts';
import {
  migrate,
  type Migrated,
  type MigrationOptions,
  type Plan,
  planMigration,
} from '../spool/migration/migrate.ts';
import { configuration } from './configuration.ts';
import { UsageError } from './exit-codes.ts';
import { document } from './json.ts';
import { requireSpool } from './open-spool.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { type Progress, progressOf, statusLine } from './progress.ts';
import { note, type Terminal } from './terminal.ts';

export interface MigrateOptions {
  readonly to: string;
  readonly blobs?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** What every gateway with the store needs. The other files are its own. */
const KEYS = ['keys.json', 'demo.json'];

/** `migrate`: moves the configured store to a database, or from one to a folder. */
export async function migrateStore(
  options: MigrateOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const { config } = configuration(command, terminal);
  const request = requestOf(config, options);
  if (request.to === 'database') requireSpool(config.dataDir);
  const { json } = options;
  if (options.dryRun) {
    if (request.to === 'database') assertNotMoved(config.dataDir);
    const plan = await planMigration(request);
    terminal.out(json ? document(plan) : planText(plan));
    return;
  }
  const migrated = await interruptible(events, (signal) => run({ ...request, signal }, terminal));
  if (request.to === 'folder') await copyKeys(config.dataDir, request.dir);
  terminal.out(json ? document(migrated) : migratedText(migrated));
  if (!json) note(terminal, nextSteps(migrated, request, options));
}

type Request = Pick<MigrationOptions, 'dir' | 'database' | 'to' | 'scratchFolder'>;

/** @throws {UsageError} */
function requestOf({ dataDir, spool }: Config, { to, blobs }: MigrateOptions): Request {
  const isUrl = /^postgres(?:ql)?:/.test(to);
  const scratchFolder = mkdtempSync(join(tmpdir(), 'sluice-'));
  if (spool.url !== 'sqlite') {
    if (isUrl) throw new UsageError('spool.url is a database already; --to names a data folder');
    if (blobs !== undefined) throw new UsageError('a data folder has its blobs; leave out --blobs');
    const database = { url: storeUrl({ spool }), s3: s3Of(spool.blobs) };
    return { dir: resolve(to), database, to: 'folder', scratchFolder };
  }
  if (!isUrl || !spoolUrl().safeParse(to).success) {
    throw new UsageError('--to must be a postgres:// URL with a host and the name of a database');
  }
  if (blobs !== undefined && !blobsUrl().safeParse(blobs).success) {
    throw new UsageError('--blobs must be postgres, or s3:// with the name of a bucket');
  }
  return { dir: dataDir, database: { url: to, s3: s3Of(blobs) }, to: 'database', scratchFolder };
}

const s3Of = (blobs: string | undefined): string | undefined =>
  blobs === 'postgres' ? undefined : blobs;

async function run(request: MigrationOptions, terminal: Terminal): Promise<Migrated> {
  const shown: { bar?: Progress; comparing?: Pick<Progress, 'end'> } = {};
  try {
    return await migrate({
      ...request,
      onProgress: (done, total) => {
        shown.bar ??= progressOf(terminal, { name: 'Rows', total, unit: 'entries' });
        shown.bar.at(done);
      },
      onCompare: () => {
        shown.bar?.end();
        shown.comparing = statusLine(terminal, 'Comparing both');
      },
    });
  } finally {
    shown.bar?.end();
    shown.comparing?.end();
  }
}

async function copyKeys(dataDir: string, dir: string): Promise<void> {
  for (const name of KEYS) {
    if (!existsSync(join(dir, name))) await copyDurably(join(dataDir, name), join(dir, name));
  }
}

function amountsText({ rows, blobs }: Pick<Plan, 'rows' | 'blobs'>): string {
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const entries = counted(rows['entry'] ?? 0, 'entry', 'entries');
  return [entries, counted(blobs, 'blob'), counted(all, 'row')].join(', ');
}

function planText(plan: Plan): string {
  const lines = Object.entries(plan.rows).map(([name, n]) => `  ${name.padEnd(16)}${n}\n`);
  return `${plan.from} -> ${plan.to}: ${amountsText(plan)}, ${sizeInWords(plan.bytes)} of blobs\n${lines.join('')}`;
}

function migratedText(migrated: Migrated): string {
  const { from, to, wasDone, missing } = migrated;
  const result = wasDone ? 'was moved before' : `${amountsText(migrated)}; both are equal`;
  const gone =
    missing.length === 0
      ? ''
      : `Missing in ${from} already: ${missing.length} blobs, as listed by --json\n`;
  return `${from} -> ${to}: ${result}\n${gone}`;
}

function nextSteps({ from, to }: Migrated, request: Request, { blobs }: MigrateOptions): string {
  const isToDatabase = request.to === 'database';
  const next = isToDatabase
    ? `set spool.url to the database${blobs === undefined ? '' : ' and spool.blobs'}`
    : `set spool.url to sqlite and dataDir to ${to}`;
  const undo = isToDatabase
    ? `delete ${join(from, 'moved.json')}`
    : 'run DELETE FROM moved in the database';
  return (
    `Next: ${next}, and start the gateway.\n` +
    `No gateway opens ${from} any more. To undo that: ${undo}\n`
  );
}
