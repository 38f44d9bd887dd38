import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, afterAll, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../support/store.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { anEntry } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const events = Object.assign(new EventEmitter(), { exit: () => undefined });
const dir = tempDir();
afterAll(() => dir.remove());

const ENTRY = anEntry({});
const NEWER = anEntry({});
const configured = {
  SLUICE_CONFIG: join(dir.path, 'sluice.yaml'),
  SLUICE_DATA_DIR: join(dir.path, 'data'),
};
const bin = join(dir.path, 'bin');
const env = {
  ...configured,
  ...{ PATH: `${bin}:${process.env['PATH'] ?? ''}`, TERM: 'dumb', HOME: dir.path },
};

async function sluice(...args: string[]): Promise<string> {
  const terminal = captureTerminal(configured);
  expect({ code: await runCli(args, terminal, events), stderr: terminal.stderr() }).toEqual({
    ...{ code: 0, stderr: '' },
  });
  return terminal.stdout();
}

const shops = (...names: string[]) =>
  `shops:${names
    .map(
      (name, n) =>
        `\n  - {name: ${name}, shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d4${n}, apiKey: key, chat: {key: chat-${n}, allowNoOrigin: true}}`,
    )
    .join('')}\n`;

beforeAll(async () => {
  writeFileSync(join(dir.path, 'sluice.yaml'), shops('acme', 'other'));
  writeFileSync(join(dir.path, 'other.yaml'), shops('from-other'));
  writeFileSync(join(dir.path, 'message.eml'), '');
  const loaded = loadConfig({ env: configured });
  if (!loaded.ok) throw new Error('the configuration is not valid');
  const { dataDir } = await completeConfig(loaded.config);
  const { spool } = await openStore(dataDir);
  await spool.accept([ENTRY, NEWER]);
  await spool.close();
  mkdirSync(bin);
  const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
  writeFileSync(join(bin, 'sluice'), program, { mode: 0o755 });
  mkdirSync(join(dir.path, 'colon'));
  const offersColon = "#!/bin/sh\nprintf 'one:two\\tin words\\n'\n";
  writeFileSync(join(dir.path, 'colon', 'sluice'), offersColon, { mode: 0o755 });
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(dir.path, `sluice.${shell}`), await sluice('completion', shell));
  }
});

/** What may follow these words, of which the last one is being typed. */
async function offers(...words: string[]): Promise<string[]> {
  const lines = (await sluice('complete', '--', ...words)).split('\n').slice(0, -1);
  return lines.map((line) => line.replace(/\t.*/, ''));
}

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
  // As bash and as other shells pass it.
  [
    ['queue', 'list', '--state', '=', 'de'],
    ['delivering', 'delivered', 'dead'],
  ],
  [
    ['queue', 'list', '--state', '='],
    ['queued', 'delivering', 'delivered', 'dead', 'held', 'suppressed', 'discarded'],
  ],
  [['queue', 'list', '--shop=a'], ['--shop=acme']],
  [['queue', 'list', '--state', 'dead', '--chan'], ['--channel']],
  [['queue', 'list', '--state=dead', '--chan'], ['--channel']],
  [
    ['queue', 'list', '--channel', ''],
    ['email', 'sms', 'web_chat'],
  ],
  [['queue', 'list', '--shop', 'a'], ['acme']],
  [
    ['queue', 'list', '--shop', ''],
    ['acme', 'other'],
  ],
  [['shops', 't'], ['try']],
  [['shops', 'try', 'a'], ['acme']],
  [
    ['queue', 'show', '0'],
    [NEWER.id, ENTRY.id],
  ],
  [['queue', 'show', ENTRY.id.slice(0, 8)], [ENTRY.id]],
  [['queue', 'show', 'x'], []],
  [['ingest', 'mess'], [':files']],
  [
    ['queue', 'export', '--format', ''],
    ['mbox', 'jsonl'],
  ],
  [['completion', 'z'], ['zsh']],
  [['platform', 'tickets', 'l'], ['list']],
  // A value that is the name of a command is none.
  [['queue', 'list', '--reason', 'queue', '--every'], ['--every']],
  [['-c', 'audit', 'queue', 'li'], ['list']],
  [['queue', 'list', '--reason', 'x'], []],
  [['shops', 'try', '--j'], ['--json']],
  [['nonsense', 'more', 'qu'], ['queue']],
  [
    ['completion', '--'],
    ['--version', '--config', '--quiet', '--help'],
  ],
  // What is hidden in the help is not offered.
  [['compl'], ['completion']],
])('%j offers %j', async (words, expected) => {
  expect(await offers(...words)).toEqual(expected);
});

test('shops are those of the configuration on the command line', async () => {
  const other = join(dir.path, 'other.yaml');
  expect(await offers('-c', other, 'queue', 'list', '--shop', '')).toEqual(['from-other']);
  expect(await offers('queue', '--config', other, 'list', '--shop', '')).toEqual(['from-other']);
  expect(await offers(`--config=${other}`, 'queue', 'list', '--shop', '')).toEqual(['from-other']);
});

test('an offer is described', async () => {
  expect(await sluice('complete', '--', 'queue', 'exp')).toBe(
    'export\twrites entries to a file: emails as mbox, or everything as JSON lines\n',
  );
  expect(await sluice('complete', '--', 'queue', 'list', '--chan')).toBe(
    '--channel\tonly this channel\n',
  );
});

/** Says so: a check that is left out must be seen. */
function isMissing(shell: string): boolean {
  if (spawnSync(shell, ['--version']).status === 0) return false;
  console.warn(`SKIPPED: there is no ${shell} to check its script with`);
  return true;
}

/** What is typed, up to a Tab, and what it offers, in the order of the alphabet. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ['sluice queue re', ['release', 'restore', 'retry']],
  ['sluice queue list --state dead h', ['held']],
  ['sluice queue list --chan', ['--channel']],
  ['sluice queue list --channel ', ['email', 'sms', 'web_chat']],
  ['sluice queue list --shop=a', ['acme']],
  ['sluice -c other.yaml queue list --shop fr', ['from-other']],
  ['sluice ingest mess', ['message.eml']],
  ['sluice queue list --reason x', []],
  // A stand-in for the program, because none of its own words contains a colon.
  ['colon/sluice o', ['one:two']],
];

/** Of a value behind an equals sign, all but bash tell the whole word. */
const withoutOption = (word: string): string => word.replace(/^--[a-z]+=/, '');

test('bash offers the same', () => {
  if (isMissing('bash')) return;
  for (const [typed, expected] of TYPED) {
    const words = typed.replace('=', ' = ').split(' ');
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const asked =
      `source "$1"; complete -p sluice; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; ` +
      '_sluice 2>&1; printf "%s\\n" "${COMPREPLY[@]}"';
    const file = join(dir.path, 'sluice.bash');
    // A socket as its input makes bash take itself for a remote shell, which reads ~/.bashrc.
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', asked, 'bash', file], {
      ...{ cwd: dir.path, env, encoding: 'utf8' as const },
    });
    const [registered, ...offered] = stdout.split('\n').filter((line) => line !== '');
    expect(registered).toBe('complete -F _sluice sluice');
    expect({ typed, offered: offered.sort(), stderr, status }).toEqual({
      ...{ typed, offered: expected, stderr: '', status: 0 },
    });
  }
});

test.each(['zsh', 'fish'])('%s can read its script', (shell) => {
  if (isMissing(shell)) return;
  // From a file: what spawnSync gives as standard input is a socket, which fish does not read.
  const file = join(dir.path, `sluice.${shell}`);
  const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('the script for zsh names its command in the first line', async () => {
  expect(await sluice('completion', 'zsh')).toMatch(/^#compdef sluice\n/);
});

test('fish offers the same, with descriptions', () => {
  if (isMissing('fish')) return;
  const all: string[] = [];
  for (const [typed, expected] of TYPED) {
    const asked = `source ${join(dir.path, 'sluice.fish')}; complete -C '${typed}'`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', asked], {
      ...{ cwd: dir.path, env, encoding: 'utf8' as const },
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    all.push(...lines);
    const offered = lines.map((line) => line.replace(/\t.*/, ''));
    const words = offered.map(withoutOption).sort();
    expect({ typed, words, stderr }).toEqual({ typed, words: expected, stderr: '' });
  }
  expect(all).toContain('--channel\tonly this channel');
});

/**
 * An interactive zsh at a terminal of its own: Tab writes down what it adds to the list, and how the
 * list shows it.
 */
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
    print -rl -- $_tmpd >> shown
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

test('zsh offers the same, with descriptions', () => {
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
    return [
      typed,
      words
        .filter((word) => word !== 'END')
        .map(withoutOption)
        .sort(),
    ];
  });
  expect({ status, told }).toEqual({ status: 0, told: TYPED });
  const shown = readFileSync(join(dir.path, 'shown'), 'utf8').split('\n');
  expect(shown).toContain('--channel  -- only this channel');
  expect(shown).toContain('one:two  -- in words');
});

test('without a shell it says which there are', async () => {
  const terminal = captureTerminal();
  expect(await runCli(['completion'], terminal, events)).toBe(2);
  expect(terminal.stderr()).toContain('bash, zsh or fish');
});
