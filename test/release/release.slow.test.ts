import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));
const FIXED = '### Fixed\n\n- A fault.';
const ADDED = '### Added\n\n- A thing.';
const BREAKING = '### Changed\n\n- **Breaking:** a key has another name.';

const changelog = (entries: string): string =>
  `# Changelog\n\n## [Unreleased]\n\n${entries}\n\n## [0.1.0] - 2026-11-28\n\n### Added\n\n- The first.\n`;

/** A repository with the script and what it changes. */
function repository({ version = '0.1.0', entries = ADDED } = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  mkdirSync(join(dir.path, 'scripts'));
  for (const name of ['release.mjs', 'workspace.mjs'])
    copyFileSync(join(SCRIPTS, name), join(dir.path, 'scripts', name));
  const write = (file: string, text: string) => writeFileSync(join(dir.path, file), text);
  const read = (file: string) => readFileSync(join(dir.path, file), 'utf8');
  write('CHANGELOG.md', changelog(entries));
  write('package.json', JSON.stringify({ name: 'it', version, type: 'module' }, null, 2));
  write(
    'package-lock.json',
    JSON.stringify({ version, packages: { '': { version }, dep: { version } } }, null, 2),
  );
  const identity = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const person = { GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@company.example' };
  const committer = { GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@company.example' };
  const env = { PATH: process.env['PATH'], ...identity, ...person, ...committer };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: dir.path, env, encoding: 'utf8' }).trim();
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message', 'All');
  const release = (...args: string[]) => {
    const program = [join(dir.path, 'scripts/release.mjs'), ...args];
    const options = { cwd: '/', env, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, program, options);
    return { status, output: stdout + stderr };
  };
  return { git, release, read, write };
}

test.each([
  ['0.1.0', ADDED, [], '0.2.0'],
  ['0.1.0', FIXED, [], '0.1.1'],
  ['0.1.9', `${FIXED}\n\n### Security\n\n- Another.`, [], '0.1.10'],
  // Before 1.0.0, anything may change with a minor version.
  ['0.1.0', BREAKING, [], '0.2.0'],
  ['1.4.2', BREAKING, [], '2.0.0'],
  ['1.4.2', '### Removed\n\n- A deprecated key.', [], '1.5.0'],
  ['0.1.0', FIXED, ['major'], '1.0.0'],
  ['0.1.0', FIXED, ['minor'], '0.2.0'],
  ['0.1.0', ADDED, ['patch'], '0.1.1'],
  ['0.9.0', ADDED, ['0.10.0'], '0.10.0'],
])('%s with %j and the arguments %j becomes %s', (version, entries, args, next) => {
  const { release, git, read } = repository({ version, entries });
  const before = git('rev-parse', 'HEAD');
  const { status, output } = release(...args, '--dry-run');
  expect(output).toContain(`Would release it ${next} (now ${version}).`);
  expect(output).toContain(`## [${next}] - `);
  expect(output).toContain(`$ git tag --annotate v${next} --message "it ${next}"`);
  expect(status).toBe(0);
  // A dry run changes nothing.
  expect(git('status', '--porcelain')).toBe('');
  expect(git('rev-parse', 'HEAD')).toBe(before);
  expect(git('tag')).toBe('');
  expect(read('CHANGELOG.md')).toBe(changelog(entries));
});

test('a release moves the entries, sets the version, commits and tags', () => {
  const { release, git, read } = repository();
  expect(release()).toMatchObject({ status: 0 });
  const date = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toBe(
    changelog(ADDED).replace('## [Unreleased]\n', `## [Unreleased]\n\n## [0.2.0] - ${date}\n`),
  );
  expect(JSON.parse(read('package.json'))).toMatchObject({ name: 'it', version: '0.2.0' });
  expect(JSON.parse(read('package-lock.json'))).toEqual({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' }, dep: { version: '0.1.0' } },
  });
  expect(git('log', '-1', '--format=%s')).toBe('Release 0.2.0');
  expect(git('describe')).toBe('v0.2.0');
  expect(git('status', '--porcelain')).toBe('');
  // Nothing is left to release.
  expect(release()).toEqual({
    status: 1,
    output: 'Cannot release: CHANGELOG.md lists nothing under "Unreleased"\n',
  });
});

test('changes that are not committed, a tag that exists and an earlier version are refused', () => {
  const { release, git, write } = repository();
  write('new.txt', '');
  expect(release()).toEqual({
    status: 1,
    output: 'Cannot release: commit or remove these changes first:\n?? new.txt\n',
  });
  git('clean', '--force', '--quiet');
  git('tag', 'v0.2.0');
  expect(release('minor').output).toBe('Cannot release: the tag v0.2.0 exists already\n');
  expect(release('0.0.9').output).toContain('0.0.9 is not later than 0.1.0');
  expect(release('0.1.0').output).toContain('0.1.0 is not later than 0.1.0');
  expect(release('soon')).toMatchObject({ status: 1, output: expect.stringContaining('"soon"') });
  git('checkout', '--quiet', '--detach');
  expect(release('major').output).toBe('Cannot release: check out a branch first\n');
  expect(git('tag')).toBe('v0.2.0');
});

test('the help has an example, and an unknown option is refused with it', () => {
  const { release } = repository();
  expect(release('--help')).toMatchObject({
    status: 0,
    output: expect.stringContaining('$ npm run release -- minor --dry-run'),
  });
  expect(release('--force')).toMatchObject({
    status: 2,
    output: expect.stringContaining('Usage: npm run release'),
  });
});
