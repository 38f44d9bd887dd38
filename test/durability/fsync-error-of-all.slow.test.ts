import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { waitFor } from '../support/wait-for.ts';
import { CHAT, EMAIL, LARGE_EMAIL, library, SMS, why } from './failing-fsync.ts';

(why === undefined ? describe : describe.skip)('fsync fails with EIO', () => {
  test.each([
    { of: 'a message file', path: '.tmp' },
    { of: 'the folder of message files', path: '/blobs' },
    { of: 'the log', path: '/spool.db-wal' },
  ])(
    'of $of: nothing more is acknowledged on any channel, and it ends though deliveries hang',
    async ({ path }) => {
      const setting = await gatewaySetting();
      const { platform, dataDir } = setting;
      const trigger = join(dataDir, 'the-disk-fails');
      const env = { LD_PRELOAD: library, FAIL_FSYNC_WHEN: trigger, FAIL_FSYNC_OF: path };
      const gateway = await setting.start({ env });
      const visitor = await setting.chat();
      // What a delivery waits for never comes.
      platform.gate = () => new Promise(() => undefined);
      const all = [EMAIL, SMS, CHAT];
      for (const each of all) await each.send({ setting, visitor, name: `before ${each.channel}` });
      await waitFor('deliveries in flight', () => platform.payloads.length === 3, 20);
      const waiting = await Promise.all(Array.from({ length: 5 }, () => setting.greeted()));

      writeFileSync(trigger, '');
      const failure = path === '/spool.db-wal' ? EMAIL : LARGE_EMAIL;
      expect(await failure.send({ setting, visitor, name: 'refused' })).toMatch(failure.refusal);
      const failedAt = performance.now();
      const endedAt = gateway.exited.then(() => performance.now());
      // By connections that were open before, and by new ones.
      const answers = await Promise.all([
        ...waiting.map((client, n) => sendEmail(client, `later-${n}`).catch(() => 'closed')),
        ...all.map((each) => each.send({ setting, visitor, name: 'later' }).catch(() => 'closed')),
      ]);
      for (const answer of answers) expect(answer).not.toMatch(/^250 2\.0\.0|^200 |"ok":true/);
      const { code, signal } = await gateway.exited;
      // An ordinary stop waits longer for deliveries; `bench -- power-cut` takes the time.
      expect((await endedAt) - failedAt).toBeLessThan(10_000);
      expect({ signal, failed: code !== 0 }).toEqual({ signal: null, failed: true });
      // It stays for the next start, which does not trust it: nobody has tried to sync it again.
      expect(statSync(join(dataDir, 'spool.db-wal')).size).toBeGreaterThan(0);
    },
  );
});
