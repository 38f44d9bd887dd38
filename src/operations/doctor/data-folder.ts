import type { Trouble } from '../../domain/trouble.ts';
import type { DataFolderStatus, SpoolStatus } from '../../observability/status.ts';
import { counted } from '../../runtime/amounts.ts';
import { isOpenToOthers, openFolderTrouble } from '../../runtime/set-up-trouble.ts';
import { octal } from '../../runtime/system-trouble.ts';
import { PAUSED } from '../conditions.ts';
import { type CheckResult, resultsFor } from './check.ts';

export interface FolderCheckOptions {
  readonly now: number;
  /** The id of the user; undefined on systems without user ids. */
  readonly uid: number | undefined;
  /** `delivery.paused`. */
  readonly paused: boolean;
}

/** Without any writes for this long, delivery is considered stopped. */
const STALLED_AFTER_MS = 10 * 60_000;

/** Whether a gateway can use the data folder, and whether deliveries make progress. */
export function checkDataFolder(
  status: DataFolderStatus,
  options: FolderCheckOptions,
): CheckResult[] {
  const { dir, folder, trouble } = status;
  if (folder === undefined) {
    if (trouble !== undefined) return [checkAccess(dir, trouble)];
    const { skipped } = resultsFor('data-folder', dir, 'a folder accessible only by its owner');
    return [skipped('not created yet: no gateway has been started')];
  }
  const owner = checkOwner(status, folder, options);
  // The contents cannot be checked without access.
  if (owner.status === 'failed') return [owner];
  return [
    owner,
    ...(trouble ? [checkAccess(dir, trouble)] : []),
    ...checkSecrets(status),
    checkLock(status),
    ...checkSpool(status, options),
  ];
}

/** A gateway of this user refuses to start with the same message. */
function checkAccess(dir: string, { found, todo }: Trouble): CheckResult {
  const { failed } = resultsFor('data-folder.access', dir, 'all files are accessible by this user');
  return failed(found, todo);
}

function checkOwner(
  { dir }: DataFolderStatus,
  { uid: owner, mode }: NonNullable<DataFolderStatus['folder']>,
  { uid }: FolderCheckOptions,
): CheckResult {
  const { ok, warning, failed } = resultsFor(
    'data-folder',
    dir,
    'a folder accessible only by its owner',
  );
  if (uid !== undefined && uid !== 0 && owner !== uid) {
    return failed(
      `owned by user ${owner}; the current user is ${uid}`,
      `run the gateway and its commands as user ${owner}, or change the owner: chown -R ${uid} ${dir}`,
    );
  }
  const open = openFolderTrouble(dir, mode);
  if (open !== undefined) return warning(open.found, open.todo);
  return ok(`accessible only by its owner (mode ${octal(mode)})`);
}

function checkSecrets({ dir, secrets }: DataFolderStatus): CheckResult[] {
  return secrets.map(({ name, mode }) => {
    const { ok, failed } = resultsFor('data-folder.keys', name, 'readable only by its owner');
    return !isOpenToOthers(mode)
      ? ok(`mode ${octal(mode)}`)
      : failed(
          `other users can read the keys (mode ${octal(mode)})`,
          `chmod 600 ${dir}/${name}; if other users had access to this machine, move the file ` +
            'away and restart the gateway, which generates new keys',
        );
  });
}

function checkLock({ dir, lock, pid }: DataFolderStatus): CheckResult {
  const { ok, warning } = resultsFor(
    'data-folder.lock',
    'spool.lock',
    'released, or held by a gateway',
  );
  if (lock === 'held') return ok(`held by a gateway (process ${pid ?? 'unknown'})`);
  if (lock === 'free') return ok('released: no gateway is running');
  return warning(
    `the last gateway (process ${pid ?? 'unknown'}) did not release the lock: it was killed, or the machine stopped`,
    `start the gateway: it recovers automatically. Find the cause in its log and in dmesg. ${dir}/spool.pid need not be removed`,
  );
}

function checkSpool(status: DataFolderStatus, options: FolderCheckOptions): CheckResult[] {
  const { spool, dir, lock } = status;
  if (spool === undefined) return [];
  const expected = 'a database of this version';
  const { ok, warning, failed } = resultsFor('data-folder.spool', 'spool.db', expected);
  if (spool === 'damaged') {
    return [
      failed(
        'damaged, or not a database',
        'restore it from a backup, or move it away to start with an empty one',
      ),
    ];
  }
  if (spool === 'unreadable') {
    return [
      failed(
        'not readable',
        `check that this user can read ${dir}, and check dmesg for disk errors`,
      ),
    ];
  }
  const { schema, knownSchema, mismatch } = spool;
  if (mismatch !== undefined) return [failed(mismatch.why, mismatch.remedy)];
  const version =
    schema === knownSchema
      ? ok(`schema ${schema}`)
      : lock === 'held'
        ? warning(
            `used by a running older version (schema ${schema}; this version supports ${knownSchema})`,
            'restart the gateway to run this version',
          )
        : warning(
            `written by an older version (schema ${schema}; this version supports ${knownSchema})`,
            'make a backup, then start the gateway, which upgrades the database irreversibly',
          );
  return [version, checkMoves(status, spool, options)];
}

/** Whether the spool is being written while entries are due. */
function checkMoves(
  { lock }: DataFolderStatus,
  spool: SpoolStatus,
  { now, paused }: FolderCheckOptions,
): CheckResult {
  const { ok, warning, failed } = resultsFor(
    'data-folder.moves',
    'spool.db',
    'written while entries wait',
  );
  const { due, dueSince = now, lastWriteAt } = spool;
  if (due === 0) return ok('no entry is due');
  const still = minutes(now - lastWriteAt);
  const are = due === 1 ? '1 entry is due' : `${due} entries are due`;
  const waits = `${are}, the oldest for ${minutes(now - dueSince)}`;
  if (paused) {
    return warning(`${waits}: ${PAUSED.sentence.toLowerCase()}`, PAUSED.remedy);
  }
  if (now - dueSince < STALLED_AFTER_MS || now - lastWriteAt < STALLED_AFTER_MS) return ok(waits);
  return lock === 'held'
    ? failed(
        `${waits}; no writes for ${still}: the gateway is not responding`,
        'save its log and restart the gateway; acknowledged messages are not lost',
      )
    : failed(
        `${waits}; no writes for ${still}: no gateway is running with this folder`,
        'start the gateway; if one is running, compare its dataDir',
      );
}

const minutes = (ms: number): string => counted(Math.max(0, Math.round(ms / 60_000)), 'minute');

/** Describes how to make a backup, since existing backups cannot be detected. */
export function backupHint(dir: string, bytes: number): CheckResult {
  const { ok } = resultsFor('backup', dir, 'a copy on another machine');
  return ok(
    `spool.db has ${Math.ceil(bytes / 1_000_000)} MB; to back up, also while the gateway runs: ` +
      'sluice backup FOLDER; to verify: sluice backup FOLDER --check',
  );
}
