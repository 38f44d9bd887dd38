import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { gatewaySetting } from '../support/gateway-setting.ts';
import { waitFor } from '../support/wait-for.ts';
import { CHAT, EMAIL, LARGE_EMAIL, library, SMS, why } from './failing-fsync.ts';

(why === undefined ? describe : describe.skip)('fsync fails with EIO', () => {
  test.each([
    { of: 'the log', path: '/spool.db-wal', ...EMAIL },
    { of: 'the log', path: '/spool.db-wal', ...SMS },
    { of: 'the log', path: '/spool.db-wal', ...CHAT },
    { of: 'a message file', path: '.tmp', ...LARGE_EMAIL },
    { of: 'the folder of message files', path: '/blobs', ...LARGE_EMAIL },
  ])(
    'of $of: $channel is not acknowledged, the gateway ends, and keeps what it acknowledged',
    async ({ path, send, refusal, accepted }) => {
      const setting = await gatewaySetting();
      const { platform, dataDir } = setting;
      const trigger = join(dataDir, 'the-disk-fails');
      const env = { LD_PRELOAD: library, FAIL_FSYNC_WHEN: trigger, FAIL_FSYNC_OF: path };
      const gateway = await setting.start({ env });
      const visitor = await setting.chat();
      const all = [EMAIL, LARGE_EMAIL, SMS, CHAT];

      // Kept from the platform, so that they are in the spool alone when the disk fails.
      let cut: () => void = () => undefined;
      const isCut = new Promise<void>((resolve) => (cut = resolve));
      platform.gate = async (_call, response) => {
        await isCut;
        response.destroy();
        return 'taken' as const;
      };
      for (const each of all) {
        const answer = await each.send({ setting, visitor, name: `before ${each.channel}` });
        expect(answer).toMatch(each.accepted);
      }
      // The two emails are one lane: three are in flight, and nothing more is to be written.
      await waitFor('deliveries in flight', () => platform.payloads.length === 3, 20);

      writeFileSync(trigger, '');
      expect(await send({ setting, visitor, name: 'refused' })).toMatch(refusal);
      cut();
      const { code, signal } = await gateway.exited;
      expect({ signal, failed: code !== 0 }).toEqual({ signal: null, failed: true });
      expect(gateway.log.map(({ message }) => message)).toContain('gateway.failed');
      expect(platform.messages).toEqual([]);

      platform.gate = () => undefined;
      await setting.start();
      await waitFor('the visitor to be back', () => visitor.socket.connected, 20);
      // The sender tries again; whether the first try had reached the disk is all the same.
      expect(await send({ setting, visitor, name: 'refused' })).toMatch(accepted);
      await waitFor('everything', () => platform.messages.length >= 5, 20);
      const contents = platform.messages.map(({ content }) => content.split('\n', 1)[0]);
      expect(contents.toSorted()).toEqual(
        [...all.map(({ channel }) => `before ${channel}`), 'refused'].toSorted(),
      );
    },
  );
});
