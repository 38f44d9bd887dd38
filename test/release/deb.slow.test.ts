import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { freePorts, PlainUser, reachableRegistry } from './plain-user.ts';

const TIMEOUT_MS = 300_000;

const there = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const registry = await reachableRegistry();
const whyNot =
  (!there('dpkg-deb') && 'dpkg-deb is not installed') ||
  (!there('dpkg-shlibdeps') && 'dpkg-shlibdeps, of dpkg-dev, is not installed') ||
  (registry === undefined && 'the npm registry, which has its Node, is not reachable') ||
  undefined;
if (whyNot !== undefined) console.error(`!! SKIPPED: the Debian package: ${whyNot}`);
const hasSystemd = there('systemd-analyze');
if (whyNot === undefined && !hasSystemd)
  console.error('!! SKIPPED: the unit of the Debian package: systemd-analyze is not installed');
/** It changes the machine, so people have to ask for it. */
const mayInstall =
  process.getuid?.() === 0 &&
  (process.env['CI'] === 'true' || process.env['SLUICE_TEST_DEB'] === '1') &&
  !existsSync('/usr/bin/sluice');
if (whyNot === undefined && !mayInstall)
  console.error('!! The Debian package is unpacked, not installed: SLUICE_TEST_DEB=1 installs it');

const run = (program: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status}\n${stdout}${stderr}`);
  return stdout;
};

(whyNot === undefined ? describe : describe.skip)('the Debian package', () => {
  const dir = tempDir();
  let file = '';
  beforeAll(() => {
    // Its reader is another user.
    chmodSync(dir.path, 0o755);
    const args = ['scripts/deb.mjs', '--output', dir.path, '--compression', 'none'];
    file =
      run(process.execPath, ...args)
        .trim()
        .split('\n')
        .at(-1) ?? '';
  }, TIMEOUT_MS);
  afterAll(() => dir.remove());

  /** The folder that is / for the package's files. */
  const unpacked = (): string => {
    const root = join(dir.path, 'root');
    if (!existsSync(root)) run('dpkg-deb', '-x', file, root);
    return root;
  };

  /** Serves with the package's own Node, gets a message of each channel to the local platform, and stops. */
  const serves = async (program: readonly [string, ...string[]]): Promise<void> => {
    const user = PlainUser.create(registry ?? { url: '', settings: '' });
    const folder = user.folder('gateway');
    const env = await freePorts();
    const [command, ...before] = program;
    const gateway = user.start(command, [...before, 'serve'], folder, env);
    await gateway.says(/Sluice is ready/);
    const sluice = async (...args: string[]) => {
      const ran = user.start(command, [...before, ...args], folder, env);
      if ((await ran.ended) !== 0) throw new Error(ran.output);
      return ran.stdout;
    };
    await sluice('send', 'email', 'Where is my order 1001?');
    await sluice('send', 'sms', 'Are you open on Sunday?');
    expect(await sluice('send', 'chat', 'Can I return my shoes?')).toMatch(/return/i);
    await waitFor('all three to be delivered', async () => {
      const listed = await sluice('queue', 'list', '--json');
      const entries = JSON.parse(listed) as readonly { channel: string; state: string }[];
      const delivered = entries.filter(({ state }) => state === 'delivered');
      return delivered.length === 3 && new Set(delivered.map(({ channel }) => channel)).size === 3;
    });
    await gateway.terminate();
    expect(gateway.output).toMatch(/gateway\.stopped/);
  };

  test('names what it needs, keeps the configuration, and belongs to root', () => {
    const info = run('dpkg-deb', '--info', file);
    expect(info).toMatch(/Package: sluice\n/);
    const listed = run('dpkg-deb', '--contents', file).trim().split('\n');
    expect(listed.filter((line) => !line.includes('root/root'))).toEqual([]);
    const paths = listed.map((line) => line.split(/\s+/)[5]);
    expect(paths).toEqual(
      expect.arrayContaining([
        './usr/bin/sluice',
        './usr/lib/systemd/system/sluice.service',
        './etc/sluice/sluice.yaml',
        './usr/lib/sluice/node/LICENSE',
        './usr/share/doc/sluice/copyright',
        './usr/share/doc/sluice/changelog.gz',
      ]),
    );
    const root = unpacked();
    const driver = readFileSync(
      join(root, 'usr/lib/sluice/node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
      'latin1',
    );
    const minors = [...driver.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    const asked = /Depends: adduser, libc6 \(>= 2\.(\d+)\)/.exec(info)?.[1];
    expect(Number(asked)).toBeGreaterThanOrEqual(Math.max(...minors));
    expect(statSync(join(root, 'etc/sluice/secrets.env')).mode & 0o777).toBe(0o600);
    const control = join(dir.path, 'control');
    run('dpkg-deb', '-e', file, control);
    expect(readFileSync(join(control, 'conffiles'), 'utf8')).toBe(
      '/etc/sluice/sluice.yaml\n/etc/sluice/secrets.env\n',
    );
    for (const script of ['postinst', 'prerm', 'postrm']) run('sh', '-n', join(control, script));
  });

  test.each([
    [['--compression', 'gz'], /--compression is xz, zstd, none, not gz/],
    [['--output'], /'--output <value>' argument missing/],
    [['all'], /Unexpected argument 'all'/],
  ])('%j is refused with the usage', (args, message) => {
    const ran = spawnSync(process.execPath, ['scripts/deb.mjs', ...args], { encoding: 'utf8' });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).toMatch(/^Usage: npm run deb/m);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
  });

  (hasSystemd ? test : test.skip)('systemd finds no mistake in its unit', () => {
    const root = unpacked();
    const unit = readFileSync(join(root, 'usr/lib/systemd/system/sluice.service'), 'utf8');
    expect(unit).toContain('ExecStart=/usr/bin/sluice serve\n');
    const copy = join(dir.path, 'sluice.service');
    writeFileSync(copy, unit.replaceAll('/usr/bin/sluice', join(root, 'usr/bin/sluice')));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', copy], {
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${dir.path}:` },
    });
    expect(stderr.split('\n').filter((line) => line.includes('sluice.service'))).toEqual([]);
    expect(status).toBe(0);
  });

  test(
    'serves with its own Node where it is unpacked',
    () => {
      const app = join(unpacked(), 'usr/lib/sluice');
      return serves([join(app, 'node/bin/node'), join(app, 'dist/main.js')]);
    },
    TIMEOUT_MS,
  );

  (mayInstall ? test : test.skip)(
    'is installed, serves, is removed with its data kept, and purged',
    async () => {
      try {
        run('dpkg', '-i', file);
        expect(run('sluice', '--version')).toMatch(/^\d+\.\d+\.\d+/);
        expect(run('getent', 'passwd', 'sluice')).toContain('/var/lib/sluice');
        await serves(['sluice']);
        writeFileSync('/var/lib/sluice/kept', '');
        run('dpkg', '-r', 'sluice');
        expect(existsSync('/usr/bin/sluice')).toBe(false);
        expect(existsSync('/etc/sluice/sluice.yaml')).toBe(true);
        expect(existsSync('/var/lib/sluice/kept')).toBe(true);
      } finally {
        run('dpkg', '-P', 'sluice');
        spawnSync('deluser', ['--quiet', '--system', 'sluice']);
      }
      expect(existsSync('/etc/sluice/sluice.yaml')).toBe(false);
      expect(existsSync('/var/lib/sluice')).toBe(false);
    },
    TIMEOUT_MS,
  );
});
