import type { Trouble } from '../../domain/trouble.ts';
import type { DataFolderFacts, SpoolFacts } from '../../observability/facts.ts';
import { counted } from '../../runtime/amounts.ts';
import { isOpenToOthers, openFolderTrouble } from '../../runtime/set-up-trouble.ts';
import { octal } from '../../runtime/system-trouble.ts';
import { type CheckResult, verdicts } from './check.ts';

export interface FolderCircumstances {
  readonly now: number;
  /** Who runs this; undefined where there are no such numbers. */
  readonly uid: number | undefined;
  /** `delivery.paused`. */
  readonly paused: boolean;
}

/** Somebody who watches would wonder after this long. */
const STALE_MS = 10 * 60_000;

/** Whether the data folder is one that a gateway can work with, and does. */
export function checkDataFolder(
  facts: DataFolderFacts,
  circumstances: FolderCircumstances,
): CheckResult[] {
  const { dir, folder, trouble } = facts;
  if (folder === undefined) {
    if (trouble !== undefined) return [checkAccess(dir, trouble)];
    const { skipped } = verdicts('data-folder', dir, 'a folder of this user alone');
    return [skipped('it does not exist: no gateway has run with it yet')];
  }
  const owner = checkOwner(facts, folder, circumstances);
  // What is in a folder that one may not look into would be guessed.
  if (owner.status === 'failed') return [owner];
  return [
    owner,
    ...(trouble ? [checkAccess(dir, trouble)] : []),
    ...checkSecrets(facts),
    checkLock(facts),
    ...checkSpool(facts, circumstances),
  ];
}

/** With it, a gateway of this user refuses to start, in the same words. */
function checkAccess(dir: string, { found, todo }: Trouble): CheckResult {
  const { failed } = verdicts(
    'data-folder.access',
    dir,
    'all in it is at the disposal of this user',
  );
  return failed(found, todo);
}

function checkOwner(
  { dir }: DataFolderFacts,
  { uid: owner, mode }: NonNullable<DataFolderFacts['folder']>,
  { uid }: FolderCircumstances,
): CheckResult {
  const { ok, warning, failed } = verdicts('data-folder', dir, 'a folder of this user alone');
  if (uid !== undefined && uid !== 0 && owner !== uid) {
    return failed(
      `it belongs to another user (${owner}; this is ${uid})`,
      `run the gateway and its commands as user ${owner}, or give it to this one: chown -R ${uid} ${dir}`,
    );
  }
  const open = openFolderTrouble(dir, mode);
  if (open !== undefined) return warning(open.found, open.todo);
  return ok(`of this user alone (mode ${octal(mode)})`);
}

function checkSecrets({ dir, secrets }: DataFolderFacts): CheckResult[] {
  return secrets.map(({ name, mode }) => {
    const { ok, failed } = verdicts('data-folder.keys', name, 'readable by its owner alone');
    return !isOpenToOthers(mode)
      ? ok(`mode ${octal(mode)}`)
      : failed(
          `others may read the keys in it (mode ${octal(mode)})`,
          `chmod 600 ${dir}/${name}; if somebody else has used this machine since, move the file ` +
            'away and restart the gateway, which makes new keys',
        );
  });
}

function checkLock({ dir, lock, pid }: DataFolderFacts): CheckResult {
  const { ok, warning } = verdicts(
    'data-folder.lock',
    'spool.lock',
    'let go of, or held by a gateway',
  );
  if (lock === 'held') return ok(`held by a gateway (process ${pid ?? 'unknown'})`);
  if (lock === 'free') return ok('let go of: no gateway runs with this folder');
  return warning(
    `the last gateway (process ${pid ?? 'unknown'}) ended without letting go: it was killed, or the machine stopped`,
    `start a gateway: it recovers by itself; look into its log and dmesg for why. ${dir}/spool.pid is only a note`,
  );
}

function checkSpool(facts: DataFolderFacts, circumstances: FolderCircumstances): CheckResult[] {
  const { spool, dir, lock } = facts;
  if (spool === undefined) return [];
  const expected = 'a database of this version';
  const { ok, warning, failed } = verdicts('data-folder.spool', 'spool.db', expected);
  if (spool === 'damaged') {
    return [
      failed(
        'it is damaged, or no database',
        'restore it from a backup, or move it away to begin anew',
      ),
    ];
  }
  if (spool === 'unreadable') {
    return [
      failed(
        'it cannot be read',
        `see that this user may read ${dir}, and that no disk fails (dmesg)`,
      ),
    ];
  }
  const { schema, knownSchema } = spool;
  if (schema > knownSchema) {
    return [
      failed(
        `it was written by a newer version (schema ${schema}; this one knows ${knownSchema})`,
        'run that version again, or restore the backup from before the update',
      ),
    ];
  }
  const version =
    schema === knownSchema
      ? ok(`schema ${schema}`)
      : lock === 'held'
        ? warning(
            `an older version is running on it (schema ${schema}; this one knows ${knownSchema})`,
            'restart the gateway to run this version',
          )
        : warning(
            `it is of an older version (schema ${schema}; this one knows ${knownSchema})`,
            'back it up, then start the gateway: it brings it up to date, and there is no way back',
          );
  return [version, checkMoves(facts, spool, circumstances)];
}

/** Entries wait, and nobody has written for long: nobody delivers. */
function checkMoves(
  { lock }: DataFolderFacts,
  spool: SpoolFacts,
  { now, paused }: FolderCircumstances,
): CheckResult {
  const { ok, warning, failed } = verdicts(
    'data-folder.moves',
    'spool.db',
    'written while entries wait',
  );
  const { due, dueSince = now, lastWriteAt } = spool;
  if (due === 0) return ok('nothing waits that is due');
  const still = minutes(now - lastWriteAt);
  const are = due === 1 ? '1 entry is due' : `${due} entries are due`;
  const waits = `${are}, the first for ${minutes(now - dueSince)}`;
  if (paused) {
    return warning(`${waits}: delivery.paused is true`, 'set delivery.paused to false and restart');
  }
  if (now - dueSince < STALE_MS || now - lastWriteAt < STALE_MS) return ok(waits);
  return lock === 'held'
    ? failed(
        `${waits}, and nothing was written for ${still}: the gateway hangs`,
        'restart the gateway; nothing that was acknowledged is lost. Keep its log',
      )
    : failed(
        `${waits}, and nothing was written for ${still}: no gateway runs with this folder`,
        'start the gateway; if one runs, it has another dataDir: compare its configuration',
      );
}

const minutes = (ms: number): string => counted(Math.max(0, Math.round(ms / 60_000)), 'minute');

/** No check knows whether there is a backup: how to make one, while the gateway runs. */
export function backupHint(dir: string, bytes: number): CheckResult {
  const { ok } = verdicts('backup', dir, 'a copy elsewhere');
  return ok(
    `spool.db has ${Math.ceil(bytes / 1_000_000)} MB; a copy is made while the gateway runs by: ` +
      'sluice backup FOLDER, and checked by: sluice backup FOLDER --check',
  );
}
