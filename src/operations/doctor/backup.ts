import { type CheckResult, verdicts } from './check-result.ts';

/** No check knows whether there is a backup: how to make one, while the gateway runs. */
export function backupHint(dir: string, bytes: number): CheckResult {
  const { ok } = verdicts('backup', dir, 'a copy elsewhere');
  return ok(
    `spool.db has ${Math.ceil(bytes / 1_000_000)} MB; a copy is made while the gateway runs by: ` +
      'sluice backup FOLDER, and checked by: sluice backup FOLDER --check',
  );
}
