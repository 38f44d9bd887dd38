import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { certificateFor } from '../support/doctor-scene.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { tempDir } from '../support/temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const events = Object.assign(new EventEmitter(), { exit: () => undefined });

let dir: ReturnType<typeof tempDir>;
beforeEach(() => void (dir = tempDir()));
afterEach(() => dir.remove());

/** Runs the built program. */
async function sluice(...args: string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: process.env['PATH'], SLUICE_DATA_DIR: join(dir.path, 'data') };
    execFile(process.execPath, [MAIN, ...args], { env, cwd: dir.path }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

/** Those that the help shows. */
function commands(command: Command, names: readonly string[] = []): Named[] {
  const shown = command.createHelp().visibleCommands(command);
  const below = command.commands.filter((child) => shown.includes(child));
  const own = { names, line: ['sluice', ...names].join(' '), command };
  return [own, ...below.flatMap((child) => commands(child, [...names, child.name()]))];
}

interface Named {
  readonly names: readonly string[];
  readonly line: string;
  readonly command: Command;
}

const all = commands(createProgram(captureTerminal(), events));

test('the commands', () => {
  expect(all.map(({ line }) => line)).toEqual([
    'sluice',
    'sluice serve',
    'sluice config',
    'sluice config check',
    'sluice config show',
    'sluice config hash-password',
    'sluice status',
    'sluice reload',
    'sluice doctor',
    'sluice queue',
    'sluice queue list',
    'sluice queue stats',
    'sluice queue show',
    'sluice queue retry',
    'sluice queue release',
    'sluice queue discard',
    'sluice queue restore',
    'sluice queue undo',
    'sluice queue export',
    'sluice shops',
    'sluice shops try',
    'sluice alerts',
    'sluice alerts test',
    'sluice audit',
    'sluice token',
    'sluice token create',
    'sluice token list',
    'sluice token revoke',
    'sluice ingest',
    'sluice explain',
    'sluice send',
    'sluice send email',
    'sluice send sms',
    'sluice send chat',
    'sluice backup',
    'sluice erase',
    'sluice export',
    'sluice migrate',
    'sluice platform',
    'sluice platform tickets',
    'sluice platform tickets list',
    'sluice platform tickets get',
    'sluice platform tickets count',
    'sluice platform messages',
    'sluice platform messages list',
    'sluice platform messages get',
    'sluice platform messages create',
    'sluice platform conversations',
    'sluice platform conversations get',
    'sluice platform contacts',
    'sluice platform contacts list',
    'sluice platform contacts get',
    'sluice platform events',
    'sluice platform events create',
    'sluice platform media',
    'sluice platform media upload',
    'sluice completion',
  ]);
});

/** They print no result: a running gateway, and a script for a shell. */
const WITHOUT_JSON = ['sluice serve', 'sluice completion'];

test('every command that prints a result has --json', () => {
  const without = all
    .filter(({ command }) => command.commands.length === 0)
    .filter(({ command }) => !command.options.some(({ long }) => long === '--json'));
  expect(without.map(({ line }) => line)).toEqual(WITHOUT_JSON);
});

test.each(all)('$line --help shows an example of itself', async ({ names, line }) => {
  const terminal = captureTerminal();
  expect(await runCli([...names, '--help'], terminal, events)).toBe(0);
  const example = /Examples?:\n {2}\$ (sluice .*)$/m.exec(terminal.stdout())?.[1] ?? '';
  expect(example.startsWith(line)).toBe(true);
  expect(terminal.stdout()).toContain('--config <file>');
  expect(terminal.stdout()).toContain('--quiet');
});

test('the exit codes are in the help', async () => {
  const terminal = captureTerminal();
  await runCli(['--help'], terminal, events);
  expect(terminal.stdout()).toMatch(/Exit codes:\n {2}0 {2}success\n {2}1 .*\n {2}2 /);
});

test.each([
  [['frobnicate'], /unknown command/],
  [['queue', 'lits'], /Did you mean list/],
  [['--frobnicate'], /unknown option/],
  [['config', 'check', 'extra'], /too many arguments/],
  [['queue', 'show'], /missing required argument/],
  [['queue', 'list', '--state', 'lost'], /Allowed choices are queued/],
  [['queue', 'list', '--limit', '0'], /whole number from 1 to 1000/],
  [['send', 'chat', 'hi', '--wait', 'long'], /duration such as 30s/],
  [['send', 'chat', 'hi', '--port', '99999'], /port from 1 to 65535/],
])('%j is a mistake on the command line', async (args, message) => {
  const terminal = captureTerminal();
  expect(await runCli(args, terminal, events)).toBe(2);
  expect(terminal.stderr()).toMatch(message);
});

test('config check looks at the certificate: mistakes, and warnings', async () => {
  const day = 86_400_000;
  const [old, other] = [
    await certificateFor(new Date(Date.now() - 9 * day), new Date(Date.now() - day)),
    await certificateFor(new Date(Date.now() - day), new Date(Date.now() + 90 * day)),
  ];
  const check = async (key: string, enabled = true) => {
    const [file, certFile, keyFile] = ['tls.json', 'crt.pem', 'key.pem'].map((name) =>
      join(dir.path, name),
    ) as [string, string, string];
    writeFileSync(certFile, old.cert);
    writeFileSync(keyFile, key);
    const tls = { cert: certFile, key: keyFile };
    writeFileSync(file, JSON.stringify({ smtp: { enabled, hostname: 'mx.acme.example', tls } }));
    return sluiceHere(['config', 'check', '--config', file]);
  };
  expect(await check(other.key)).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^1 mistake in the configuration\n\nsmtp\.tls\.key\n.*\n  found:    ".*key\.pem": the key of another certificate\n  fix:      name the key/,
    ),
  });
  expect(await check(old.key)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^warning: smtp\.tls\.cert: expired on .*; renew it/),
  });
  expect(await check(other.key, false)).toMatchObject({ code: 0, stderr: '' });
});

describe('the built program', () => {
  test('config check accepts the defaults, and leaves nothing behind', async () => {
    expect(await sluice('config', 'check')).toMatchObject({
      code: 0,
      stdout: 'The configuration is valid: the defaults, the demo shop.\n',
    });
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test('config check --json prints the mistakes, or the shops and warnings', async () => {
    const file = join(dir.path, 'bad.yaml');
    writeFileSync(file, 'smtp: {prot: 1}\nadmin: {password: short}\n');
    const { code, stdout } = await sluice('config', 'check', '--json', '--config', file);
    expect(code).toBe(2);
    expect(stdout).not.toContain('short');
    expect(JSON.parse(stdout)).toEqual({
      ...{ ok: false, file, warnings: [] },
      mistakes: [
        expect.objectContaining({ path: 'smtp.prot', place: `${file}:1:8` }),
        expect.objectContaining({ path: 'admin.password', place: `${file}:2:19` }),
      ],
    });
    const valid = JSON.parse((await sluice('config', 'check', '--json')).stdout) as unknown;
    expect(valid).toEqual({ ok: true, shops: [], warnings: [], mistakes: [] });
  });

  test.each([
    ['before the command', (file: string) => ['--config', file, 'config', 'check']],
    ['after it', (file: string) => ['config', 'check', '--config', file]],
    ['between', (file: string) => ['config', '-c', file, 'check']],
  ])('--config may stand %s; mistakes are all printed and end in 2', async (_where, args) => {
    const file = join(dir.path, 'bad.yaml');
    writeFileSync(file, 'smtp: {prot: 1}\nadmin: {password: short}\nhttp: {port: x}\n');
    const { code, stderr, stdout } = await sluice(...args(file));
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('3 mistakes in the configuration');
    expect(stderr).toContain(`smtp.prot  (${file}:1:8)`);
    expect(stderr).toContain('did you mean port?');
    expect(stderr).not.toContain('short');
  });

  test('serve refuses a bad configuration in the same way', async () => {
    const file = join(dir.path, 'bad.yaml');
    writeFileSync(file, 'spool: {url: "postgres://db"}\n');
    const { code, stderr } = await sluice('--config', file);
    expect(code).toBe(2);
    expect(stderr).toContain('with a host and the name of a database');
  });

  test('a command that cannot be done ends in 1, and says what to do', async () => {
    const { code, stderr } = await sluice('queue', 'list');
    expect(code).toBe(1);
    expect(stderr).toContain('there is no spool in');
    expect(readdirSync(dir.path)).toEqual([]);
  });
});
