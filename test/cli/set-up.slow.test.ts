import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  mayBeNobody,
  NOBODY,
  openScene,
  runBuilt,
  type RunChoices,
} from '../support/built-program.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const READY = /Sluice is ready/;

type Scene = ReturnType<typeof openScene>;

/** `serve` with this data folder. */
const serve = ({ config, dataDir }: Scene, choices: RunChoices & { readonly dir?: string } = {}) =>
  runBuilt({
    args: ['serve', '--config', config],
    until: READY,
    ...choices,
    env: { SLUICE_DATA_DIR: choices.dir ?? dataDir, ...choices.env },
  });

/** A folder of `nobody`'s, in which a gateway has run: once for all tests, each with its copy. */
async function ranOnce(): Promise<Scene> {
  template ??= makeTemplate();
  const scene = openScene();
  expect(spawnSync('cp', ['-a', await template, scene.dataDir])).toMatchObject({ status: 0 });
  return scene;
}

let template: Promise<string> | undefined;
const kept = tempDir();
afterAll(() => kept.remove());

async function makeTemplate(): Promise<string> {
  chmodSync(kept.path, 0o755);
  const dir = join(kept.path, 'data');
  makeOwnFolder(dir);
  expect(await serve(openScene(), { uid: NOBODY, dir })).toMatchObject({
    code: 0,
    output: expect.stringMatching(READY),
  });
  return dir;
}

function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, NOBODY, NOBODY);
}

/** What another user left. */
function giveToRoot(file: string, mode: number): void {
  chownSync(file, 0, 0);
  chmodSync(file, mode);
}

const writeNoDatabase = (file: string): void => writeFileSync(file, 'no database '.repeat(200));

function makeNewer(file: string): void {
  const db = new Database(file);
  db.pragma('user_version = 999');
  db.close();
}

(mayBeNobody ? describe : describe.skip)('of another user', () => {
  test.each([
    ['keys.json', 0o600, 'keys.json cannot be read'],
    ['keys.json', 0o644, 'keys.json cannot be made private'],
    ['demo.json', 0o600, 'demo.json cannot be read'],
    ['spool.db', 0o600, 'spool.db cannot be used'],
    ['spool.db', 0o644, 'spool.db cannot be used'],
    ['spool.lock', 0o644, 'spool.lock cannot be used'],
    ['blobs', 0o755, 'blobs cannot be used'],
    ['platform/platform.sqlite', 0o600, 'platform.sqlite cannot be used'],
    ['.', 0o755, ' cannot be used'],
  ])('%s (mode %o): whose it is and what to run', async (name, mode, said) => {
    const scene = await ranOnce();
    const file = join(scene.dataDir, name);
    const before = statSync(file).isFile() ? readFileSync(file) : undefined;
    giveToRoot(file, mode);
    const { code, output } = await serve(scene, { uid: NOBODY });
    expect(output).toContain(`${said} by user ${NOBODY}`);
    expect(output).toMatch(/belongs to user 0( \(root\))?, mode 0\d{3}\. Run this as user 0/);
    expect(output).toContain(`chown -R ${NOBODY} ${scene.dataDir}\n`);
    expect(output).not.toMatch(/bug|damaged|move it away/);
    expect(code).toBe(2);
    if (before !== undefined) expect(readFileSync(file)).toEqual(before);
  });

  test('the doctor says the same', async () => {
    const scene = await ranOnce();
    giveToRoot(join(scene.dataDir, 'keys.json'), 0o600);
    const { code, output } = await serve(scene, {
      args: ['doctor', '--only', 'data-folder', '--config', scene.config],
      uid: NOBODY,
    });
    expect(output).toMatch(/^failed +data-folder\.access .*keys\.json cannot be read by user/m);
    expect(output).toContain(`chown -R ${NOBODY} ${scene.dataDir}\n`);
    expect(code).toBe(1);
  });

  test('so does a command that reads the keys without a look at the folder', async () => {
    const scene = await ranOnce();
    giveToRoot(join(scene.dataDir, 'keys.json'), 0o600);
    const args = ['platform', 'tickets', 'list', '--config', scene.config];
    const { code, output } = await serve(scene, { args, uid: NOBODY });
    expect(output).toContain(`keys.json cannot be read by user ${NOBODY}`);
    expect(output).not.toMatch(/bug|damaged|move it away/);
    expect(code).toBe(2);
  });

  test('a data folder that cannot be made names the folder in its way', async () => {
    const scene = openScene();
    const { code, output } = await serve(scene, { uid: NOBODY, dir: join(scene.path, 'a/b') });
    expect(output).toContain(`${scene.path} cannot be written by user ${NOBODY}`);
    expect(output).toContain(`install -d -m 0700 -o ${NOBODY} ${scene.path}/a/b`);
    expect(output).not.toContain('bug');
    expect(code).toBe(2);
  });

  test('a folder on the way that cannot be entered is named', async () => {
    const scene = openScene();
    const shut = join(scene.path, 'shut');
    mkdirSync(shut, { mode: 0o700 });
    const { code, output } = await serve(scene, { uid: NOBODY, dir: join(shut, 'data') });
    expect(output).toContain(`${shut} cannot be entered by user ${NOBODY}`);
    expect(code).toBe(2);
  });

  test('a port below 1024 needs a right that is named', async () => {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
    if (first <= 25) {
      console.error('!! SKIPPED: a port below 1024: this system lets everybody have one');
      return;
    }
    const scene = openScene();
    makeOwnFolder(scene.dataDir);
    writeFileSync(scene.config, readFileSync(scene.config, 'utf8').replace('0', '25'));
    const { code, output } = await serve(scene, { uid: NOBODY });
    expect(output).toMatch(/may not listen on port 25: .*CAP_NET_BIND_SERVICE/s);
    expect(output).not.toContain('bug');
    expect(code).toBe(2);
  });
});

test('a file in the place of the data folder, or of one above it, is named', async () => {
  const scene = openScene();
  writeFileSync(scene.dataDir, '');
  for (const dir of [scene.dataDir, join(scene.dataDir, 'below')]) {
    const { code, output } = await serve(scene, { dir });
    expect(output).toContain(`${scene.dataDir} is a file where a folder is needed`);
    expect(output).not.toContain('bug');
    expect(code).toBe(2);
  }
});

test('the doctor looks at a file in the place of the data folder', async () => {
  const scene = openScene();
  writeFileSync(scene.dataDir, '');
  const { code, output } = await serve(scene, {
    args: ['doctor', '--only', 'data-folder', 'disk', '--config', scene.config],
    dir: join(scene.dataDir, 'below'),
  });
  expect(output).toMatch(/^failed +disk .* is a file where a folder is needed$/m);
  expect(output).toMatch(/^failed +data-folder\.access .* is a file where a folder is needed$/m);
  expect(code).toBe(1);
});

test.each([
  ['no database', writeNoDatabase, /spool\.db is not a SQLite database\. Restore/],
  ['of a newer version', makeNewer, /newer version \(schema 999; .*run the newer version/],
] as const)('a spool that is %s ends as a mistake of the set-up', async (_what, spoil, said) => {
  const scene = openScene();
  mkdirSync(scene.dataDir, { mode: 0o700 });
  spoil(join(scene.dataDir, 'spool.db'));
  const { code, output } = await serve(scene);
  expect(output).toMatch(said);
  expect(output).not.toContain('bug');
  expect(code).toBe(2);
});

test('keys that are no keys are damaged', async () => {
  const scene = openScene();
  mkdirSync(scene.dataDir, { mode: 0o700 });
  writeFileSync(join(scene.dataDir, 'keys.json'), '{', { mode: 0o600 });
  const { code, output } = await serve(scene);
  expect(output).toMatch(/keys\.json is damaged\. Restore it from a backup, or move it away/);
  expect(code).toBe(2);
});

test('a port that is in use is named; it may become free, so another try makes sense', async () => {
  const scene = openScene();
  const other = createServer().listen(0, '0.0.0.0');
  await once(other, 'listening');
  ends(() => other.close());
  // A listening TCP server has an address of this kind.
  const { port } = other.address() as AddressInfo;
  writeFileSync(scene.config, readFileSync(scene.config, 'utf8').replace('0', String(port)));
  const { code, output } = await serve(scene);
  expect(output).toMatch(
    new RegExp(
      `^port ${port} is in use by another program\\. Stop that program, or set smtp\\.port to another port`,
      'm',
    ),
  );
  expect(code).toBe(1);
});

/** A file system of the test's own, with these options. */
function mounted(folder: string, ...options: string[]): boolean {
  mkdirSync(folder, { recursive: true });
  const args = ['-t', 'tmpfs', '-o', options.join(), 'tmpfs', folder];
  const isMounted = spawnSync('mount', args).status === 0;
  if (isMounted) ends(() => spawnSync('umount', [folder]));
  else console.error('!! SKIPPED: a disk of its own: this user may not mount one');
  return isMounted;
}

test('a read-only file system is said to be one', async () => {
  const scene = openScene();
  if (!mounted(scene.dataDir, 'ro', 'size=1m')) return;
  const { code, output } = await serve(scene);
  expect(output).toContain(`${scene.dataDir} is on a file system that is mounted read-only`);
  expect(output).not.toContain('bug');
  expect(code).toBe(2);
});

test.each([4, 40, 300, 1000])('a disk with %d kB free is said to be full', async (kilobytes) => {
  const scene = openScene();
  if (!mounted(scene.dataDir, `size=${kilobytes + 2000}k`, 'mode=700')) return;
  writeFileSync(join(scene.dataDir, 'rest'), Buffer.alloc(2_000 * 1024));
  const { code, output } = await serve(scene);
  expect(output).toContain('the disk is full');
  expect(output).toContain('Free some space');
  expect(output).not.toContain('bug');
  expect(code).toBe(1);
});

const limited = (descriptors: number): readonly string[] => [
  'sh',
  '-c',
  `ulimit -n ${descriptors}; exec "$@"`,
  'sh',
];

test('a low limit of descriptors is told at the start, with the number that is needed', async () => {
  const scene = openScene();
  let doctor = '';
  const { code, output } = await serve(scene, {
    wrapper: limited(400),
    meanwhile: async () => {
      const args = ['doctor', '--only', 'descriptors', '--config', scene.config];
      doctor = (await runBuilt({ args, env: { SLUICE_DATA_DIR: scene.dataDir } })).output;
    },
  });
  expect(output).toMatch(/^warning: .* 400 files and sockets open, and needs up to 3200 /m);
  expect(output).toMatch(/LimitNOFILE=65536 .*ulimit -n 65536/);
  expect(doctor).toMatch(
    /^warning +descriptors .* 400 files and sockets open, and needs up to 3200/m,
  );
  expect(code).toBe(0);
});

test.each([30, 60, 128, 200])('with %d descriptors it says that they are too few', async (few) => {
  const { code, output } = await serve(openScene(), { wrapper: limited(few) });
  expect(output).toMatch(/LimitNOFILE=65536 .*ulimit -n 65536/);
  expect(output).not.toContain('bug');
  expect(code).toBe(2);
});

test('a data folder that others may look into is told, with the command that shuts it', async () => {
  const scene = openScene();
  mkdirSync(scene.dataDir);
  chmodSync(scene.dataDir, 0o750);
  const { output } = await serve(scene);
  expect(output).toContain(
    `warning: the data folder ${scene.dataDir}: other users have access to it (mode 0750). Run: chmod 700 ${scene.dataDir}\n`,
  );
  chmodSync(scene.dataDir, 0o700);
  expect((await serve(scene)).output).not.toContain('warning');
});

test('all that is made is for its owner alone', async () => {
  const scene = openScene();
  const target = join(scene.path, 'backup');
  const others: string[] = [];
  const note = (folder: string): void => {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
      if ((mode & 0o077) !== 0) others.push(path);
    }
  };
  await serve(scene, {
    wrapper: ['sh', '-c', 'umask 022; exec "$@"', 'sh'],
    meanwhile: async () => {
      await waitFor('the index', () => existsSync(join(scene.dataDir, 'search')));
      // With the write-ahead logs.
      note(scene.dataDir);
      const args = ['backup', target, '--config', scene.config];
      const env = { SLUICE_DATA_DIR: scene.dataDir };
      expect(await runBuilt({ args, env })).toMatchObject({ code: 0 });
    },
  });
  for (const folder of [scene.dataDir, target]) {
    note(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
  expect(others).toEqual([]);
  expect(readdirSync(scene.dataDir)).toEqual(
    expect.arrayContaining(['ballast', 'blobs', 'keys.json', 'search', 'spool.db']),
  );
});

test('a password of the environment signs in, and is nowhere in what is printed', async () => {
  const scene = openScene();
  const file = join(scene.path, 'password');
  writeFileSync(file, 'hunter2-of-a-file\n');
  for (const env of [
    { SLUICE_ADMIN_PASSWORD: 'hunter2-of-a-file', SLUICE_LOG_LEVEL: 'debug' },
    { SLUICE_ADMIN_PASSWORD_FILE: file, SLUICE_LOG_LEVEL: 'debug' },
  ]) {
    let status = 0;
    const { output } = await serve(scene, {
      env,
      meanwhile: async (said) => {
        const [, admin = ''] = /admin +(http:\S+)/.exec(said) ?? [];
        const headers = { authorization: 'Bearer hunter2-of-a-file' };
        status = (await fetch(`${admin}/metrics`, { headers })).status;
      },
    });
    expect(status).toBe(200);
    expect(output).not.toContain('hunter2');
    expect(output).toContain('admin password      (as configured)');
  }
});
