import { describe, expect, test } from '@jest/globals';
import type { DatabaseStatus } from '../../../src/observability/status.ts';
import { checkDatabase, checkS3 } from '../../../src/operations/doctor/database.ts';

const SOUND: DatabaseStatus = {
  ...{ version: '18.4', major: 18, isStandby: false, fsync: true, fullPageWrites: true },
  ...{ synchronousCommit: 'on', synchronousStandbys: 'ANY 1 (two)' },
  ...{ clockAheadMs: -300, oldestTransactionMs: 20, receivers: 1, hosts: 1, keptLogBytes: 0 },
};
const results = (change: Partial<DatabaseStatus> = {}) =>
  checkDatabase(() => Promise.resolve({ ...SOUND, ...change }));

describe('the database of several gateways', () => {
  test('is sound', async () => {
    expect((await results()).map(({ status }) => status)).toEqual(Array(6).fill('ok'));
  });

  test.each<[Partial<DatabaseStatus>, string, string, RegExp]>([
    [{ major: 14, version: '14.9' }, 'database', 'failed', /upgrade to PostgreSQL 15/],
    [{ major: 19, version: '19.0' }, 'database', 'warning', /not been tested/],
    [{ fsync: false }, 'database.durability', 'failed', /set fsync to on/],
    [
      { fullPageWrites: false, synchronousCommit: 'off' },
      'database.durability',
      'failed',
      /set full_page_writes, synchronous_commit to on/,
    ],
    [{ synchronousStandbys: '' }, 'database.standby', 'warning', /a promoted standby/],
    [{ synchronousCommit: 'local' }, 'database.standby', 'warning', /set synchronous_commit to on/],
    [{ receivers: 0 }, 'database.standby', 'failed', /start the standby/],
    [{ keptLogBytes: 2 * 1024 ** 3 }, 'database.replication', 'warning', /drop its slot/],
    [{ clockAheadMs: -6000 }, 'database.clock', 'warning', /NTP/],
    [{ oldestTransactionMs: 3_600_000 }, 'database.transactions', 'warning', /pg_stat_activity/],
  ])('with %j: %s is %s', async (change, check, status, todo) => {
    const wrong = (await results(change)).filter((result) => result.status !== 'ok');
    expect(wrong).toMatchObject([{ check, status, todo: expect.stringMatching(todo) }]);
  });

  test('that cannot be reached is told with the reason, without the password', async () => {
    const cause = new Error('password authentication failed for user "sluice"');
    const failing = () => Promise.reject(new Error('the database cannot be reached', { cause }));
    expect(await checkDatabase(failing)).toMatchObject([
      { check: 'database', status: 'failed', found: cause.message },
    ]);
  });
});

describe('S3', () => {
  test('is sound when an object comes back', async () => {
    expect(await checkS3(() => Promise.resolve())).toMatchObject({ status: 'ok' });
  });

  test('is told with what the server said', async () => {
    const cause = Object.assign(new Error('no such key id'), { name: 'InvalidAccessKeyId' });
    const failing = () => Promise.reject(new Error('S3 cannot be reached, or refuses', { cause }));
    expect(await checkS3(failing)).toMatchObject({
      ...{ check: 'database.blobs', status: 'failed', found: 'InvalidAccessKeyId: no such key id' },
      todo: expect.stringContaining('credentials'),
    });
  });
});
