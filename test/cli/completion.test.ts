import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
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

const bin = join(dir.path, 'bin');
const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, TERM: 'dumb', HOME: dir.path };

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(dir.path, `sluice.${shell}`), await script(shell));
  }
  // Answers what the script asks the program, and tells with which configuration.
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

describe('bash', () => {
  const file = join(dir.path, 'sluice.bash');

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
        env,
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
    [['shops', 't'], ['try']],
    [['shops', 'try', 'a'], ['acme']],
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
  // From a file: what spawnSync gives as standard input is a socket, which fish does not read.
  const file = join(dir.path, `sluice.${shell}`);
  writeFileSync(file, text);
  const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

/** What is typed, up to a Tab, and what it offers, in the order of the alphabet. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ['sluice qu', ['queue']],
  ['sluice queue re', ['release', 'restore', 'retry']],
  ['sluice queue list --st', ['--state']],
  ['sluice queue list --state d', ['dead', 'delivered', 'delivering', 'discarded']],
  ['sluice queue list --state dead h', ['held']],
  ['sluice queue list --state dead --shop a', ['acme']],
  ['sluice queue list --channel ', ['email', 'sms', 'web_chat']],
  ['sluice queue list --shop a', ['acme']],
  ['sluice queue list --shop=a', ['acme']],
  ['sluice -c other.yaml queue list --shop fr', ['from-other.yaml']],
  ['sluice queue show id', ['id-1', 'id-2']],
  ['sluice ingest mess', ['message.eml']],
  ['sluice queue export --format ', ['jsonl', 'mbox']],
  ['sluice completion z', ['zsh']],
  ['sluice platform tickets l', ['list']],
  ['sluice -c audit queue li', ['list']],
  ['sluice queue list --reason queue --every', ['--every']],
  ['sluice queue list --reason x', []],
];

test('fish offers the same', () => {
  if (isMissing('fish')) return;
  for (const [typed, expected] of TYPED) {
    const asked = `source ${join(dir.path, 'sluice.fish')}; complete -C '${typed}'`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', asked], {
      ...{ cwd: dir.path, env, encoding: 'utf8' as const },
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    const offered = lines.map((line) => line.replace(/\t.*/, ''));
    // Of a value behind an equals sign, fish tells the whole word.
    const words = offered.map((word) => word.replace(/^--[a-z]+=/, ''));
    expect({ typed, words: words.sort(), stderr }).toEqual({ typed, words: expected, stderr: '' });
  }
});

/** An interactive zsh at a terminal of its own: Tab writes down what it adds to the list. */
const ZSH_SETUP = `
PS1='' RPS1='' LISTMAX=100000
fpath=($PWD/functions $fpath)
autoload -Uz compinit
compinit -D -u
compadd() {
  local -a matches
  if [[ " $* " != *' -'[OAD]' '* ]]; then
    builtin compadd -A matches "$@"
    (( $#matches )) && print -rl -- $matches >> offered
  fi
  builtin compadd "$@"
}
tab() { _main_complete; print -r -- END >> offered }
zle -C tab complete-word tab
bindkey '^I' tab
print -r -- END > offered
`;
const ZSH_DRIVER = `
zmodload zsh/zpty
zpty shell zsh -f -i
await() {
  local n line
  for (( n = 0; n < 6000; n++ )); do
    # Its terminal must not fill up.
    while zpty -r -t shell line; do :; done
    [[ -e offered && "$(tail -n 1 offered)" = END ]] && return
    sleep 0.01
  done
  exit 1
}
zpty -w shell 'source ./setup.zsh'
await
for typed in "$@"; do
  : > offered
  zpty -w -n shell "$typed"$'\\t'
  await
  print -r -- "typed $typed"
  sort -u offered
  zpty -w -n shell $'\\x15'
done
zpty -d shell
`;

test('zsh offers the same', () => {
  if (isMissing('zsh')) return;
  mkdirSync(join(dir.path, 'functions'));
  copyFileSync(join(dir.path, 'sluice.zsh'), join(dir.path, 'functions', '_sluice'));
  writeFileSync(join(dir.path, 'setup.zsh'), ZSH_SETUP);
  const lines = TYPED.map(([typed]) => typed);
  const { stdout, status } = spawnSync('zsh', ['-f', '-c', ZSH_DRIVER, 'zsh', ...lines], {
    ...{ cwd: dir.path, env, encoding: 'utf8' as const },
  });
  const offered = stdout.split(/^typed /m).slice(1);
  const told = offered.map((each) => {
    const [typed = '', ...words] = each.trimEnd().split('\n');
    return [typed, words.filter((word) => word !== 'END').sort()];
  });
  expect({ status, told }).toEqual({ status: 0, told: TYPED });
});

test('zsh describes every command, and quotes what it has to', async () => {
  const text = await script('zsh');
  expect(text.startsWith('#compdef sluice\n')).toBe(true);
  expect(text).toContain('_sluice_queue_list() {');
  expect(text).toMatch(/'\*--state=\[only these states\]:value:\(queued delivering/);
  expect(text).toContain("'--shop=[only this shop]:value: _sluice_asked shop'");
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
