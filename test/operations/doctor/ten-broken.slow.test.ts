import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { checkDataFolder } from '../../../src/operations/doctor/data-folder.ts';
import { inspectDataFolder } from '../../../src/spool/data-folder.ts';
import { openStore } from '../../support/store.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { DoctorsScene } from '../../support/doctor-scene.ts';
import { sluiceHere, type Told } from '../../support/sluice-command.ts';
import { ends } from '../../support/ends.ts';
import { anEntry } from '../../support/entries.ts';
import { ACME, INBOX } from '../../support/gateway-config.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { OUR_NUMBER } from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';

const scene = new DoctorsScene();
beforeAll(() => scene.start(), 120_000);
afterAll(() => scene.stop());
afterEach(() => {
  scene.platform.key = ACME.apiKey;
  scene.platform.clockOffsetMs = 0;
});

/** The lines of one check: its head, what was expected, what to do. */
function section({ stdout }: Told, check: string): string {
  const blocks = stdout.split(/\n(?=\S)/);
  return blocks.filter((block) => block.split(/ +/)[1] === check).join('\n');
}

/** Of every line that is neither ok nor skipped, its status and check. */
const trouble = ({ stdout }: Told): string[] =>
  stdout.split('\n').flatMap((line) => {
    const [status = '', check = ''] = line.split(/ +/);
    return status === 'failed' || status === 'warning' ? [`${status} ${check}`] : [];
  });

test('a healthy set-up: nothing fails', async () => {
  const told = await scene.doctorAsBuilt();
  expect({ code: told.code, stderr: told.stderr }).toEqual({ code: 0, stderr: '' });
  // Of all that is needed, a test has no public name with a certificate for it.
  expect(trouble(told)).toEqual(['warning public-url']);
  for (const check of ['platform', 'reach', 'mx', 'certificate', 'breaker', 'alerts', 'clock']) {
    expect(section(told, check)).toMatch(/^ok /);
  }
  expect(section(told, 'ports').match(/^ok /gm)).toHaveLength(3);
  expect(section(told, 'data-folder.lock')).toContain('held by a gateway');
});

test('--json tells the same to a program', async () => {
  const { code, stdout } = await scene.doctor({}, '--json', '--only', 'ports', 'disk');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    checks: [{ check: 'disk' }, { check: 'ports' }, { check: 'ports' }, { check: 'ports' }],
  });
});

describe('broken', () => {
  test('1: a wrong key', async () => {
    scene.platform.key = 'another key';
    const told = await scene.doctorAsBuilt();
    expect(told).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^1 of \d+ checks failed/),
    });
    expect(section(told, 'platform')).toMatch(/^failed .*acme: 401: refused$/m);
    expect(section(told, 'platform')).toContain("to do: set the shop's shopId and apiKey");
    expect(told.stdout + told.stderr).not.toContain(ACME.apiKey);
  });

  test('2: a wrong publicUrl', async () => {
    const told = await scene.doctor(scene.part('http', { publicUrl: scene.platform.url }));
    expect(told.code).toBe(1);
    expect(section(told, 'reach')).toMatch(/^warning .*401: another server responds$/m);
    expect(section(told, 'reach')).toContain(
      "to do: configure the proxy to forward to the gateway's http.port without changing the path",
    );
    expect(section(told, 'twilio.webhook')).toMatch(/^failed .*another host, another port/m);
  });

  test('3: an expired certificate', async () => {
    const tls = await scene.certificate(new Date(2024, 0, 1), new Date(2024, 5, 1, 12));
    const told = await scene.doctor(scene.part('smtp', { tls }));
    expect(trouble(told)).toContain('warning certificate');
    expect(section(told, 'certificate')).toContain('expired on 2024-06-01');
    expect(section(told, 'certificate')).toContain('to do: renew it');
  });

  test('4: no MX record, which is no failure: another server may forward', async () => {
    const shops = [
      { ...ACME, platformUrl: scene.platform.url, email: { addresses: ['help@other.example'] } },
    ];
    const told = await scene.doctor({ shops }, '--only', 'mx');
    expect(told.code).toBe(0);
    expect(section(told, 'mx')).toMatch(/^warning .*other\.example: no MX record$/m);
    expect(section(told, 'mx')).toContain('to do: add an MX record for other.example');
  });

  test('5: a closed port', async () => {
    // Nothing listens on the discard port.
    const told = await scene.doctor(scene.part('smtp', { port: 9 }));
    expect(told.code).toBe(1);
    expect(section(told, 'ports')).toMatch(
      /^failed .*smtp .*:9: no response \(ECONNREFUSED\), but a gateway is running with this data folder$/m,
    );
    expect(section(told, 'ports')).toContain(
      "to do: check the gateway's log for its listen addresses",
    );
  });

  test('6: a full disk', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const args = ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dir.path];
    if (spawnSync('mount', args).status !== 0) {
      console.warn('SKIPPED: filling a disk needs the right to mount one');
      return;
    }
    ends(() => spawnSync('umount', [dir.path]));
    const told = await scene.doctor({ dataDir: join(dir.path, 'data') }, '--only', 'disk');
    expect(told.code).toBe(1);
    expect(section(told, 'disk')).toMatch(
      /^failed .*8 MB of .* free\): new messages are refused$/m,
    );
    expect(section(told, 'disk')).toContain('to do: Free space on this disk');
  });

  test('7: a skewed clock', async () => {
    scene.platform.clockOffsetMs = 600_000;
    const told = await scene.doctor();
    expect(told.code).toBe(1);
    expect(section(told, 'clock')).toMatch(/^failed .*this machine: (59\d|60\d) s behind$/m);
    expect(section(told, 'clock')).toContain('to do: enable NTP on this machine');
  });

  test('9: a webhook that leads elsewhere', async () => {
    const [sid = ''] = scene.account.resources.keys();
    const number = scene.account.resources.get(sid);
    if (number === undefined) throw new Error('there is no number');
    const before = number['sms_url'] ?? null;
    number['sms_url'] = 'https://old.example/in';
    ends(() => (number['sms_url'] = before));
    const told = await scene.doctor();
    expect(told.code).toBe(1);
    expect(section(told, 'twilio.webhook')).toMatch(
      new RegExp(
        `^failed .*acme \\${OUR_NUMBER}: POST https://old\\.example/in \\(.*another host`,
        'm',
      ),
    );
    expect(section(told, 'twilio.webhook')).toContain('or run sluice doctor --fix');
  });
});

describe('broken: 10, a stale data folder', () => {
  /** One of a gateway that ran and stopped, with an entry that waits. */
  async function stopped(): Promise<{ dataDir: string; only: () => Promise<Told> }> {
    const dir = tempDir();
    ends(() => dir.remove());
    const dataDir = join(dir.path, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const { spool } = await openStore(dataDir);
    const hourAgo = Date.now() - 3_600_000;
    await spool.accept([anEntry({ shopId: asShopId(ACME.shopId), receivedAt: hourAgo })]);
    await spool.close();
    return { dataDir, only: () => scene.doctor({ dataDir }, '--only', 'data-folder') };
  }

  test('of a newer version', async () => {
    const { dataDir, only } = await stopped();
    const db = new Database(join(dataDir, 'spool.db'));
    db.pragma('user_version = 99');
    db.close();
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.spool')).toMatch(/^failed .*a newer version \(schema 99;/m);
    expect(section(told, 'data-folder.spool')).toContain('to do: run the newer version');
  });

  test('of an older version, which is brought up to date at the start', async () => {
    const { dataDir, only } = await stopped();
    const db = new Database(join(dataDir, 'spool.db'));
    db.pragma('user_version = 14');
    db.close();
    const told = await only();
    expect(told.code).toBe(0);
    expect(section(told, 'data-folder.spool')).toMatch(/^warning .*an older version \(schema 14;/m);
    expect(section(told, 'data-folder.spool')).toContain('to do: make a backup, then start');
  });

  test('of a version that is too old', async () => {
    const { dataDir, only } = await stopped();
    const db = new Database(join(dataDir, 'spool.db'));
    db.pragma('user_version = 2');
    db.close();
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.spool')).toMatch(/^failed .*an older version \(schema 2;/m);
    expect(section(told, 'data-folder.spool')).toContain('to do: start build');
  });

  test('that nobody has written to while entries wait', async () => {
    const { dataDir, only } = await stopped();
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(join(dataDir, 'spool.db'), hourAgo, hourAgo);
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.moves')).toMatch(
      /^failed .*1 entry is due, the oldest for 60 minutes; .* no gateway is running with this folder$/m,
    );
    expect(section(told, 'data-folder.moves')).toContain('to do: start the gateway');
  });

  test('with a lock that was left', async () => {
    const { dataDir, only } = await stopped();
    writeFileSync(join(dataDir, 'spool.pid'), '4242\n');
    const told = await only();
    expect(told.code).toBe(0);
    expect(section(told, 'data-folder.lock')).toMatch(
      /^warning .*\(process 4242\) did not release the lock/m,
    );
    expect(section(told, 'data-folder.lock')).toContain('to do: start the gateway: it recovers');
  });

  test('with keys that others may read, and that looking does not hide', async () => {
    const { dataDir, only } = await stopped();
    writeFileSync(join(dataDir, 'keys.json'), '{}');
    chmodSync(join(dataDir, 'keys.json'), 0o644);
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.keys')).toMatch(
      /^failed .*keys\.json: other users can read/m,
    );
    expect(section(told, 'data-folder.keys')).toContain('to do: chmod 600');
  });

  test("that is another user's: only that is told, and nothing is guessed", async () => {
    const { dataDir, only } = await stopped();
    // What may not be looked at is an error, whoever runs this test.
    for (const name of ['spool.db', 'spool.lock', 'spool.pid']) {
      rmSync(join(dataDir, name), { force: true });
      symlinkSync(name, join(dataDir, name));
    }
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.spool')).toMatch(/^failed .*not readable/m);
    const facts = inspectDataFolder(dataDir, Date.now());
    const folder = { uid: 4242, mode: 0o700 };
    const circumstances = { now: Date.now(), uid: 1000, paused: false };
    expect(checkDataFolder({ ...facts, folder }, circumstances)).toMatchObject([
      { check: 'data-folder', status: 'failed', todo: expect.stringContaining('as user 4242') },
    ]);
  });

  test('that is damaged', async () => {
    const { dataDir, only } = await stopped();
    writeFileSync(join(dataDir, 'spool.db'), 'not a database at all'.repeat(1000));
    const told = await only();
    expect(told.code).toBe(1);
    expect(section(told, 'data-folder.spool')).toMatch(/^failed .*damaged/m);
    expect(section(told, 'data-folder.spool')).toContain('to do: restore it from a backup');
  });
});

/** Last, since nothing closes it again before the gateway's own patience ends. */
test('broken: 8, a breaker that is open', async () => {
  scene.platform.messageStatus = 503;
  const box = Array.from(
    { length: 30 },
    (_, n) =>
      `From p${n}@customer.example Sat Nov 21 10:00:00 2026\nFrom: <p${n}@customer.example>\n` +
      `To: ${INBOX}\nSubject: ${n}\nMessage-ID: <${n}@customer.example>\n\nHello ${n}\n\n`,
  );
  const mbox = join(scene.dir.path, 'thirty.mbox');
  writeFileSync(mbox, box.join(''));
  const taken = await sluiceHere(['ingest', mbox, '--config', scene.file()]);
  expect(taken).toMatchObject({ code: 0, stdout: 'ingested: 30, already present: 0, failed: 0\n' });
  await waitFor(
    'the breaker to open, and the store to know why',
    async () => {
      const only = await scene.doctor({}, '--only', 'breaker');
      return only.code === 1 && section(only, 'breaker').includes(', since ');
    },
    200,
  );
  const told = await scene.doctor();
  expect(trouble(told)).toEqual(['warning public-url', 'failed breaker']);
  expect(section(told, 'breaker')).toMatch(
    /acme: Deliveries of acme are stopped: Platform error \(503\), since /,
  );
  expect(section(told, 'breaker')).toMatch(
    /to do: The platform fails, which its operators have to mend\./,
  );
});
