import { describe, expect, test } from '@jest/globals';
import type { DatabaseStatus } from '../../../src/observability/status.ts';
import { checkDatabase } from '../../../src/operations/doctor/database.ts';

const SOUND: DatabaseStatus = {
  ...{ version: '18.4', major: 18, isStandby: false, fsync: true, fullPageWrites: true },
  ...{ synchronousCommit: 'on', synchronousStandbys: 'ANY 1 (two)' },
  ...{ clockAheadMs: -300, oldestTransactionMs: 20 },
};
const results = (change: Partial<DatabaseStatus> = {}) =>
  checkDatabase(() => Promise.resolve({ ...SOUND, ...change }));

describe('the database of several gateways', () => {
  test('is sound', async () => {
    expect((await results()).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
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
