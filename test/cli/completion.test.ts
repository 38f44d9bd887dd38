import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { tempDir } from '../support/temp-dir.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });
const dir = tempDir();
afterAll(() => dir.remove());

async function script(shell: string): Promise<string> {
  const terminal = captureTerminal();
  expect(await runCli(['completion', shell], terminal, events)).toBe(0);
  return terminal.stdout();
}

/** Says so: a check that is left out must be seen. */
function isMissing(shell: string): boolean {
  if (spawnSync(shell, ['--version']).status === 0) return false;
  console.warn(`SKIPPED: there is no ${shell} to check its script with`);
  return true;
}

describe('bash', () => {
  let file = '';
  beforeAll(async () => {
    file = join(dir.path, 'sluice.bash');
    writeFileSync(file, await script('bash'));
    // Answers what the script asks the program, and tells with which configuration.
    const bin = join(dir.path, 'bin');
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'sluice'),
      '#!/bin/sh\nshift\n[ "$1" = --values ] || exit 1\n' +
        '[ "$2" = shop ] && printf "acme\\nother\\n"\n[ "$2" = entry ] && printf "id-1\\nid-2\\n"\n' +
        '[ "$3" = --config ] && printf "from-%s\\n" "$4"\ntrue\n',
      { mode: 0o755 },
    );
    writeFileSync(join(dir.path, 'message.eml'), '');
  });

  /** What a Tab after these words offers; the last one is being typed. */
  function offered(...words: string[]): string[] {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const { stdout, stderr, status } = spawnSync(
      'bash',
      [
        // A socket as its input makes bash take itself for a remote shell, which reads ~/.bashrc.
        '--norc',
        '-c',
        `source "$1"; COMP_WORDS=(sluice ${quoted}); COMP_CWORD=${words.length}; _sluice 2>&1; ` +
          'printf "%s\\n" "${COMPREPLY[@]}"',
        'bash',
        file,
      ],
      {
        cwd: dir.path,
        env: { PATH: `${join(dir.path, 'bin')}:${process.env['PATH'] ?? ''}` },
        encoding: 'utf8',
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.split('\n').filter((line) => line !== '');
  }

  test('is registered for the command', () => {
    if (isMissing('bash')) return;
    const { stdout } = spawnSync(
      'bash',
      ['--norc', '-c', 'source "$1"; complete -p sluice', 'bash', file],
      {
        encoding: 'utf8',
      },
    );
    expect(stdout).toBe('complete -F _sluice sluice\n');
  });

  test.each<[string[], string[]]>([
    [['qu'], ['queue']],
    [
      ['queue', 're'],
      ['retry', 'release', 'restore'],
    ],
    [['queue', 'list', '--st'], ['--state']],
    [
      ['queue', 'list', '--state', 'd'],
      ['delivering', 'delivered', 'dead', 'discarded'],
    ],
    [['queue', 'list', '--state', 'dead', 'h'], ['held']],
    [
      ['queue', 'list', '--state', '=', 'de'],
      ['delivering', 'delivered', 'dead'],
    ],
    [['queue', 'list', '--state', 'dead', '--chan'], ['--channel']],
    [
      ['queue', 'list', '--channel', ''],
      ['email', 'sms', 'web_chat'],
    ],
    [['queue', 'list', '--shop', 'a'], ['acme']],
    [['-c', 'other.yaml', 'queue', 'list', '--shop', 'fr'], ['from-other.yaml']],
    [
      ['queue', 'show', 'id'],
      ['id-1', 'id-2'],
    ],
    [['ingest', 'mess'], ['message.eml']],
    [
      ['queue', 'export', '--format', ''],
      ['mbox', 'jsonl'],
    ],
    [['completion', 'z'], ['zsh']],
    [['platform', 'tickets', 'l'], ['list']],
    // A value that is the name of a command is none.
    [['queue', 'list', '--reason', 'queue', '--every'], ['--every']],
    [['queue', 'list', '--reason', 'x'], []],
  ])('%j offers %j', (words, expected) => {
    if (isMissing('bash')) return;
    expect(offered(...words)).toEqual(expected);
  });

  test('hidden options are not offered', () => {
    if (isMissing('bash')) return;
    expect(offered('completion', '--')).not.toContain('--values');
  });
});

test.each(['zsh', 'fish'])('%s can read its script', async (shell) => {
  const text = await script(shell);
  expect(text).toContain('queue');
  expect(text).toContain('web_chat');
  if (isMissing(shell)) return;
  const { status, stderr } = spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('zsh describes every command, and quotes what it has to', async () => {
  const text = await script('zsh');
  expect(text.startsWith('#compdef sluice\n')).toBe(true);
  expect(text).toContain('_sluice_queue_list() {');
  expect(text).toMatch(/'\*--state\[only these states\]:value:\(queued delivering/);
  expect(text).toContain("'--shop[only this shop]:value:_sluice_asked shop'");
});

test('fish has a line for each option, at its command only', async () => {
  const text = await script('fish');
  expect(text).toMatch(
    /complete -c sluice -n '__sluice_at "queue list"' -l channel -x -a 'email sms web_chat' -d 'only this channel'/,
  );
  expect(text).toMatch(/complete -c sluice -n '__sluice_at ""' -a 'queue' -d /);
});

test('without a shell it says which there are', async () => {
  const terminal = captureTerminal();
  expect(await runCli(['completion'], terminal, events)).toBe(2);
  expect(terminal.stderr()).toContain('bash, zsh or fish');
});
