import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { countUndelivered, withSpool } from '../support/spool-beside.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const MESSAGE = 'x'.repeat(998).concat('\r\n').repeat(290);

const disk = tempDir();
const mount = (...options: string[]): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', options.join(), 'tmpfs', disk.path]).status === 0;
const mounted = mount('size=60m');
if (!mounted) console.error('!! SKIPPED: a full disk: this user may not mount one');
afterAll(() => {
  if (mounted) spawnSync('umount', [disk.path]);
  disk.remove();
});

(mounted ? describe : describe.skip)(
  'a disk of 60 MB, with messages that are small beside its reserve',
  () => {
    test('is filled: nothing more is taken in, all that was is delivered, and space ends it', async () => {
      const { start, greeted, chat, httpUrl, platform } = await gatewaySetting({
        dataDir: disk.path,
        // A tenth of the ballast: what is free after it is given up would be enough for the intake.
        maxMessageBytes: 300_000,
      });
      platform.gate = (_call, response) => {
        response.writeHead(503).end();
        return Promise.resolve('taken' as const);
      };
      const gateway = await start();
      const ballast = join(disk.path, 'ballast');
      const { size: ballastBytes } = await stat(ballast);
      let accepted = 0;
      let answer = '';
      for (let client = await greeted(); accepted < 2000; accepted += 1) {
        if (accepted % 50 === 49) client = await greeted();
        answer = await sendEmail(client, `m${accepted}`, MESSAGE).catch((error: unknown) =>
          String(error),
        );
        if (!answer.startsWith('250')) break;
      }
      expect(answer).toMatch(/^4(?:52 4\.3\.1|51)/);
      expect(accepted).toBeGreaterThan(0);

      // Takes the remaining space except the ballast's, which is for deliveries alone.
      const { bavail, bsize } = await statfs(disk.path);
      const free = bavail * bsize - (existsSync(ballast) ? 0 : ballastBytes);
      const rest = Buffer.alloc(Math.max(0, free));
      await writeFile(join(disk.path, 'rest'), rest).catch(() => undefined);
      platform.gate = () => undefined;
      const open = () =>
        withSpool(disk.path, async (spool) => (await countUndelivered(spool)).open);
      let [refused, nth] = [0, 0];
      await waitFor(
        'everything to be delivered',
        async () => {
          // Senders try all the while, on every channel; without the ballast they have to come again.
          nth += 1;
          const before = existsSync(ballast);
          const smtp = await greeted();
          await smtp.say('EHLO sender.example');
          const mail = await smtp.say('MAIL FROM:<ann@example.com>');
          smtp.destroy();
          const text = await sendSms(httpUrl, { MessageSid: sidOf(`${nth}`), Body: 'now?' });
          const visitor = await chat().catch(() => undefined);
          const chatted = await visitor?.send('now?');
          visitor?.close();
          if (text.status === 200) accepted += 1;
          if (chatted?.ok === true) accepted += 1;
          if (!before && !existsSync(ballast)) {
            refused += 1;
            expect(mail).toMatch(/^452 4\.3\.1/);
            expect(text.status).toBe(503);
            expect(chatted ?? { ok: false }).toMatchObject({ ok: false });
          }
          return (await open()) === 0;
        },
        100,
      );
      console.log(
        `${accepted} taken in; refused without the ballast in ${refused} of ${nth} looks`,
      );
      expect(platform.messages.length).toBe(accepted);

      await rm(join(disk.path, 'rest'));
      mount('remount', 'size=160m');
      await waitFor(
        'mail to be taken in again',
        async () => {
          const reply = await sendEmail(await greeted(), 'after', 'after').catch(() => '');
          return reply.startsWith('250');
        },
        200,
      );
      expect(await gateway.terminate()).toMatchObject({ code: 0 });
    });
  },
);
