import { readdirSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { DataFolderStatus, SpoolStatus } from '../observability/status.ts';
import { dataFolderTrouble } from './folder-access.ts';
import { isServed, readPid } from './locks.ts';
import { ENDPOINTS, readShopHealth } from './shop-health.ts';
import { readDatabase } from './sqlite/database-copy.ts';
import { SPOOL_SCHEMA } from './sqlite/schema.ts';
import { mismatchOf, newestOf, numberOf } from '../runtime/sqlite-schema.ts';
import { codeOf } from '../runtime/error-code.ts';

/** The waiting entries that are read at most: the running gateway calls this on its own thread. */
const LOOKED_AT = 20_000;

const SECRETS = ['keys.json', 'demo.json'];

/** Inspects a data folder without changing it. Never throws: failures are part of the result. */
export function inspectDataFolder(dir: string, now: number): DataFolderStatus {
  const found = dataFolderTrouble(dir);
  const trouble = found === undefined ? {} : { trouble: found };
  const folder = statOf(dir);
  if (folder?.isDirectory() !== true) return { dir, secrets: [], lock: 'free', ...trouble };
  const pid = readPid(dir);
  const held = isServed(dir);
  const spool = inspectSpool(join(dir, 'spool.db'), now);
  return {
    ...{ dir, ...trouble },
    folder: { uid: folder.uid, mode: folder.mode & 0o777 },
    secrets: SECRETS.flatMap((name) => {
      const found = statOf(join(dir, name));
      return found === undefined ? [] : [{ name, uid: found.uid, mode: found.mode & 0o777 }];
    }),
    lock: held ? 'held' : pid === undefined ? 'free' : 'left',
    ...(pid !== undefined && { pid }),
    ...(spool !== undefined && { spool }),
  };
}

/**
 * The process of the gateway that uses this folder, if it is one of this machine: another container may have written the
 * number of a process that means another one here.
 */
export function gatewayProcess(dir: string): number | undefined {
  const pid = Number(readPid(dir));
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return process.platform !== 'linux' || hasOpen(pid, join(dir, 'spool.lock')) ? pid : undefined;
}

/** By proc(5); false for a process of another user. */
function hasOpen(pid: number, file: string): boolean {
  try {
    const path = realpathSync(file);
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => {
      try {
        return readlinkSync(join(folder, fd)) === path;
      } catch {
        // Closed meanwhile.
        return false;
      }
    });
  } catch {
    return false;
  }
}

function inspectSpool(file: string, now: number): DataFolderStatus['spool'] {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    // Read before the database is opened, because opening it creates an empty WAL.
    const log = statOf(`${file}-wal`);
    const lastWriteAt = Math.max(
      found.mtimeMs,
      log === undefined || log.size === 0 ? 0 : log.mtimeMs,
    );
    const status = { bytes: found.size, knownSchema: newestOf(SPOOL_SCHEMA), lastWriteAt };
    return readDatabase(file, 2000, (db) => {
      const schema = numberOf(db);
      const mismatch = mismatchOf(schema, SPOOL_SCHEMA);
      if (mismatch !== undefined || schema === 0) {
        const unread = { due: 0, stopped: [] };
        return { ...status, schema, ...unread, ...(mismatch !== undefined && { mismatch }) };
      }
      return { ...status, schema, ...waiting(db, now), stopped: stopped(db) };
    });
  } catch (error) {
    // Also when the folder belongs to another user.
    return /NOTADB|CORRUPT/.test(codeOf(error)) ? 'damaged' : 'unreadable';
  }
}

function waiting(db: Database.Database, now: number): Pick<SpoolStatus, 'due' | 'dueSince'> {
  const due = db
    .prepare<[number], { due: number; since: number | null }>(
      `SELECT count(*) AS due, min(max(next_attempt_at, received_at)) AS since
       FROM (SELECT next_attempt_at, received_at FROM entries WHERE state = 'queued' LIMIT ${LOOKED_AT})
       WHERE next_attempt_at <= ?`,
    )
    .get(now);
  const since = due?.since ?? undefined;
  return { due: due?.due ?? 0, ...(since !== undefined && { dueSince: since }) };
}

/** The stopped shops as the gateway last stored them. */
function stopped(db: Database.Database): SpoolStatus['stopped'] {
  return db
    .prepare<[], { shopId: string; health: string }>(
      `SELECT shop AS shopId, health FROM shop_health`,
    )
    .all()
    .flatMap(({ shopId, health }) => {
      const told = readShopHealth(JSON.parse(health));
      return ENDPOINTS.flatMap((part) => {
        const { state, since, reason } = told?.[part] ?? {};
        if (state !== 'open' || since === undefined || reason === undefined) return [];
        return [{ shopId, part, since, reason }];
      });
    });
}

/** Also undefined when this user may not read it. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
