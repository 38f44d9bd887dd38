import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const disk = tempDir();
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=700', 'tmpfs', disk.path]).status === 0;
if (!mounted) console.error('!! SKIPPED: a full disk: this user may not mount one');
afterAll(() => {
  if (mounted) spawnSync('umount', [disk.path]);
  disk.remove();
});

interface Readiness {
  readonly status: number;
  readonly body: {
    readonly ok: boolean;
    readonly checks?: readonly {
      readonly name: string;
      readonly ok: boolean;
      readonly why?: string;
    }[];
  };
}

const diskOf = ({ checks }: Readiness['body']) => checks?.find(({ name }) => name === 'disk');

async function ask(url: string): Promise<Readiness> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  // The handler writes this form, and nothing else.
  return { status: response.status, body: (await response.json()) as Readiness['body'] };
}

(mounted ? test : test.skip).each(['too little space', 'no space at all'])(
  'with %s, /readyz says 503 and why on both ports until messages are taken in again',
  async (how) => {
    const { start, greeted, host, ports } = await gatewaySetting({
      dataDir: disk.path,
      maxMessageBytes: 10_000_000,
    });
    const gateway = await start();
    const doors = [ports.http, ports.admin].map((port) => `http://${host}:${port}`);
    const readiness = () => Promise.all(doors.map((door) => ask(`${door}/readyz`)));
    expect((await readiness()).map(({ status }) => status)).toEqual([200, 200]);

    const rest = join(disk.path, 'rest');
    ends(() => rm(rest, { force: true }));
    if (how === 'no space at all') {
      await writeFile(rest, Buffer.alloc(200_000_000)).catch(() => undefined);
      // Something else has taken the place of what is there to be deleted.
      await rm(join(disk.path, 'ballast'));
      await writeFile(join(disk.path, 'more'), Buffer.alloc(200_000_000)).catch(() => undefined);
    } else {
      const { bavail, bsize } = await statfs(disk.path);
      await writeFile(rest, Buffer.alloc(bavail * bsize - 10_000_000));
    }
    // The spool's own check, which writes, may be the first to fail: space is looked at each second.
    const refused = await waitFor('the check of the disk to fail', async () => {
      const answers = await readiness();
      return answers.every(({ body }) => diskOf(body)?.ok === false) && answers;
    });
    for (const { status, body } of refused) {
      expect(status).toBe(503);
      expect(body.ok).toBe(false);
      expect(diskOf(body)).toEqual({
        name: 'disk',
        ok: false,
        why: expect.stringMatching(/^new messages are refused: .*disk/),
      });
    }
    // The same law as the intake's.
    const sender = await greeted();
    await sender.say('EHLO sender.example');
    expect(await sender.say('MAIL FROM:<ann@example.com>')).toMatch(/^452 4\.3\.1/);
    for (const door of doors) expect(await ask(`${door}/healthz`)).toMatchObject({ status: 200 });

    await rm(rest);
    await rm(join(disk.path, 'more'), { force: true });
    await waitFor('ready again', async () =>
      (await readiness()).every(({ status, body }) => status === 200 && body.ok),
    );
    expect(existsSync(join(disk.path, 'ballast'))).toBe(true);
    expect(await sendEmail(await greeted(), how)).toMatch(/^250/);
    expect(await gateway.terminate()).toMatchObject({ code: 0 });
  },
);
