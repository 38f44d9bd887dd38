import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { tempDir } from '../support/temp-dir.ts';

const UNIT = readFileSync('config/deploy/systemd/sluice.service', 'utf8');
const there = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!there) console.warn('systemd-analyze is not installed: the unit is not verified');

const setting = (name: string): readonly string[] =>
  [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value ?? '');

(there ? test : test.skip)('systemd finds no mistake in the unit', () => {
  const folder = tempDir();
  try {
    const file = join(folder.path, 'sluice.service');
    // Whether a program is there is checked too; Node may be elsewhere on this machine.
    writeFileSync(file, UNIT.replaceAll('/usr/bin/node', '/bin/true'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder.path}:` },
    });
    expect(stderr.split('\n').filter((line) => line.includes('sluice.service'))).toEqual([]);
    expect(status).toBe(0);
  } finally {
    folder.remove();
  }
});

test("its commands are the program's, a reload is SIGHUP, and a stop has time", () => {
  expect(setting('ExecStart')).toEqual(['/usr/bin/node /opt/sluice/dist/main.js serve']);
  expect(setting('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  expect(Number(setting('TimeoutStopSec')[0])).toBeGreaterThan(30);
});

test('a mistake in the configuration does not restart it for ever', () => {
  expect(setting('RestartPreventExitStatus')).toEqual(['2']);
  // It counts for the main process alone (systemd.service(5)).
  expect(setting('ExecStartPre')).toEqual([]);
});
