import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitForEntries } from '../support/spool-beside.ts';

const large = (byte: string): string => `${byte.repeat(998)}\r\n`.repeat(100);

test('what is not what was received is dead with an alarm; what cannot be read waits; others go on', async () => {
  const { start, greeted, platform, httpUrl, dataDir } = await gatewaySetting();
  platform.gate = (_call, response) => {
    response.writeHead(503).end();
    return Promise.resolve('taken' as const);
  };
  const first = await start();
  const blobs = join(dataDir, 'blobs');
  const named = new Map<string, string>();
  for (const name of ['damaged', 'missing']) {
    const before = new Set(readdirSync(blobs));
    expect(await sendEmail(await greeted(), name, large(name.charAt(0)))).toMatch(/^250/);
    named.set(name, readdirSync(blobs).find((file) => !before.has(file)) ?? '');
  }
  for (const [n, Body] of ['a text', 'a good text'].entries()) {
    const From = `+1415555010${n}`;
    expect((await sendSms(httpUrl, { MessageSid: sidOf(Body), From, Body })).status).toBe(200);
  }
  await first.kill();

  const file = join(blobs, named.get('damaged') ?? '');
  writeFileSync(file, 'z'.repeat(statSync(file).size));
  rmSync(join(blobs, named.get('missing') ?? ''));
  const db = new Database(join(dataDir, 'spool.db'));
  // One letter of the first text.
  db.prepare(
    `UPDATE raws SET bytes = CAST(replace(CAST(bytes AS TEXT), 'a text', 'a test') AS BLOB)
     WHERE instr(CAST(bytes AS TEXT), '"a text"') > 0`,
  ).run();
  // Each in a lane of its own.
  db.exec(
    `UPDATE entries SET detached = 1, claimable = 1, in_lane = 0, filed = 1, next_attempt_at = 0`,
  );
  db.close();

  platform.gate = () => undefined;
  const second = await start();
  const all = await waitForEntries(
    dataDir,
    'two dead, one delivered and one that waits',
    (entries) => {
      const count = (state: string): number =>
        entries.filter((entry) => entry.state === state).length;
      const isDone = count('dead') === 2 && count('delivered') === 1 && count('queued') === 1;
      return isDone && entries;
    },
  );
  expect(all.find(({ state }) => state === 'dead')?.reason?.code).toBe('raw_damaged');
  expect(platform.messages.map(({ content }) => content)).toEqual(['a good text']);
  const damaged = second.log.filter(({ message }) => message === 'spool.raw_damaged');
  // A local file is read twice.
  expect(damaged).toHaveLength(4);
  expect(new Set(damaged.map(({ entry }) => entry)).size).toBe(2);
  expect(await second.terminate()).toMatchObject({ code: 0 });
});
