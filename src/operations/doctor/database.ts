import type { DatabaseStatus } from '../../observability/status.ts';
import { durationInWords, sizeInWords } from '../../runtime/amounts.ts';
import { type CheckResult, resultsFor } from './check.ts';

const SUBJECT = 'spool.url';
const VERSIONS = { first: 15, last: 18 };
/** Leases and schedules follow the database's clock, times of messages this machine's. */
const MAX_CLOCK_MS = 5000;
const MAX_TRANSACTION_MS = 10 * 60_000;
const MAX_KEPT_LOG_BYTES = 1024 ** 3;
/** The values of `synchronous_commit` with which a commit is on the primary's disk. */
const DURABLE: ReadonlySet<string> = new Set(['on', 'local', 'remote_write', 'remote_apply']);

/** Whether the database of several gateways keeps what it has committed, also without its primary. */
export async function checkDatabase(
  inspect: () => Promise<DatabaseStatus>,
): Promise<readonly CheckResult[]> {
  let status: DatabaseStatus;
  try {
    status = await inspect();
  } catch (error) {
    return [unreachable(error)];
  }
  return readDatabase(status);
}

/** The same checks of a status that is known. Pure. */
export function readDatabase(status: DatabaseStatus): readonly CheckResult[] {
  return [
    checkServer(status),
    checkDurability(status),
    checkStandby(status),
    checkReplication(status),
    checkDatabaseClock(status),
    checkTransactions(status),
  ];
}

function unreachable(error: unknown): CheckResult {
  const { failed } = resultsFor('database', SUBJECT, 'a database that can be reached');
  return failed(
    error instanceof Error ? innermost(error).message : 'it cannot be reached',
    'check the host, the user and the password in spool.url, and that the server runs',
  );
}

function checkServer({ version, major }: DatabaseStatus): CheckResult {
  const { first, last } = VERSIONS;
  const { ok, warning, failed } = resultsFor(
    'database',
    SUBJECT,
    `PostgreSQL ${first} to ${last}, not a standby`,
  );
  const found = `PostgreSQL ${version}`;
  if (major < first) return failed(found, `upgrade to PostgreSQL ${first} or later`);
  return major > last ? warning(found, 'this version has not been tested') : ok(found);
}

function checkDurability(status: DatabaseStatus): CheckResult {
  const { fsync, fullPageWrites, synchronousCommit } = status;
  const { ok, failed } = resultsFor(
    'database.durability',
    SUBJECT,
    'fsync and full_page_writes on, synchronous_commit not off',
  );
  const off = [
    ...(fsync ? [] : ['fsync']),
    ...(fullPageWrites ? [] : ['full_page_writes']),
    ...(DURABLE.has(synchronousCommit) ? [] : ['synchronous_commit']),
  ];
  return off.length === 0
    ? ok(`synchronous_commit is ${synchronousCommit}`)
    : failed(
        `${off.join(' and ')} off: acknowledged messages can be lost in a crash`,
        `set ${off.join(', ')} to on in postgresql.conf, and reload or restart the server`,
      );
}

function checkStandby(status: DatabaseStatus): CheckResult {
  const { synchronousStandbys, synchronousCommit, receivers } = status;
  const { ok, warning, failed } = resultsFor(
    'database.standby',
    SUBJECT,
    'a synchronous standby, so that acknowledged messages survive the loss of the primary',
  );
  if (synchronousStandbys === '') {
    return warning(
      'synchronous_standby_names is empty',
      'set it on the primary; a promoted standby begins with an empty one (docs/scaling.md)',
    );
  }
  if (synchronousCommit === 'local') {
    return warning(
      'synchronous_commit is local, so no commit waits for it',
      'set synchronous_commit to on',
    );
  }
  return receivers === 0
    ? failed(
        `${synchronousStandbys} is required, and no standby is connected: no message can be acknowledged`,
        'start the standby, or take it out of synchronous_standby_names and reload the server',
      )
    : ok(synchronousStandbys);
}

function checkReplication({ keptLogBytes }: DatabaseStatus): CheckResult {
  const { ok, warning } = resultsFor(
    'database.replication',
    SUBJECT,
    `at most ${sizeInWords(MAX_KEPT_LOG_BYTES)} of log kept for a standby`,
  );
  const found = `${sizeInWords(keptLogBytes)} kept`;
  return keptLogBytes <= MAX_KEPT_LOG_BYTES
    ? ok(found)
    : warning(
        `${found}: a standby is behind or gone, and its replication slot fills the server's disk`,
        'start the standby, or drop its slot (pg_replication_slots, pg_drop_replication_slot)',
      );
}

function checkDatabaseClock({ clockAheadMs }: DatabaseStatus): CheckResult {
  const limit = durationInWords(MAX_CLOCK_MS);
  const { ok, warning } = resultsFor(
    'database.clock',
    'this machine',
    `within ${limit} of the clock of the database`,
  );
  const found = `${Math.round(Math.abs(clockAheadMs) / 1000)} s apart`;
  return Math.abs(clockAheadMs) <= MAX_CLOCK_MS
    ? ok(found)
    : warning(found, 'enable NTP on this machine and on that of the database');
}

function checkTransactions({ oldestTransactionMs }: DatabaseStatus): CheckResult {
  const { ok, warning } = resultsFor(
    'database.transactions',
    SUBJECT,
    `no transaction older than ${durationInWords(MAX_TRANSACTION_MS)}`,
  );
  return oldestTransactionMs <= MAX_TRANSACTION_MS
    ? ok('none')
    : warning(
        `one has been open for ${durationInWords(oldestTransactionMs)}: the server cannot remove deleted rows`,
        'find it in pg_stat_activity and end it; set idle_in_transaction_session_timeout',
      );
}

/** @param tryS3 stores an object, reads it and removes it; its error's cause has the reason */
export async function checkS3(tryS3: () => Promise<void>): Promise<CheckResult> {
  const { ok, failed } = resultsFor(
    'database.blobs',
    'spool.blobs',
    'an object that is stored, read back unchanged and removed',
  );
  try {
    await tryS3();
    return ok('stored, read and removed');
  } catch (error) {
    const { name, message } = error instanceof Error ? innermost(error) : new Error('unknown');
    return failed(
      name === 'Error' ? message : `${name}: ${message}`,
      'check the bucket, its endpoint and region in spool.blobs, and the credentials (docs/scaling.md)',
    );
  }
}

const innermost = (error: Error): Error =>
  error.cause instanceof Error ? innermost(error.cause) : error;
