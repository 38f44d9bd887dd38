// npm run release: makes the section "Unreleased" of CHANGELOG.md a version, commits it and tags it; see docs/releasing.md.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, run } from './workspace.mjs';

const USAGE = `Usage: npm run release -- [patch|minor|major|VERSION] [--dry-run]

Makes the section "Unreleased" of CHANGELOG.md the section of a new version, writes the version into
package.json and package-lock.json, commits these files, and tags the commit. Nothing is pushed or
published. Without an argument, the section decides: a breaking change makes a major version (a minor
one before 1.0.0), "Added", "Changed", "Deprecated" or "Removed" a minor one, anything else a patch.

  --dry-run  print what would be done, and change nothing
  --help     show this

Example:
  $ npm run release -- minor --dry-run`;

const FILES = ['CHANGELOG.md', 'package.json', 'package-lock.json'];
const HEADING = '## [Unreleased]';
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const BUMPS = ['patch', 'minor', 'major'];

/** Something that the person who releases has to change first. */
class CannotRelease extends Error {}

/** The entries between the heading "Unreleased" and that of the next version, or the links at the end. */
function unreleasedEntries(changelog) {
  const start = changelog.indexOf(`${HEADING}\n`);
  if (start < 0) throw new CannotRelease(`CHANGELOG.md has no line "${HEADING}"`);
  const after = changelog.slice(start + HEADING.length + 1);
  const end = after.search(/^(?:## |\[[^\]]+\]: )/m);
  const entries = (end < 0 ? after : after.slice(0, end)).trim();
  if (!/^- /m.test(entries))
    throw new CannotRelease('CHANGELOG.md lists nothing under "Unreleased"');
  return entries;
}

/** Semantic Versioning 2.0.0: sections 6 to 8, and 4 for versions before 1.0.0. @returns one of BUMPS */
function bumpFor(entries, version) {
  if (/^- \*\*Breaking:?\*\*/m.test(entries)) return version.startsWith('0.') ? 'minor' : 'major';
  return /^### (?:Added|Changed|Deprecated|Removed)$/m.test(entries) ? 'minor' : 'patch';
}

/** @param wish one of BUMPS, or a version, which has to be later than this one */
function nextVersion(version, wish) {
  const [, ...parts] = VERSION.exec(version)?.map(Number) ?? [];
  const [major, minor, patch] = parts;
  if (wish === 'major') return `${major + 1}.0.0`;
  if (wish === 'minor') return `${major}.${minor + 1}.0`;
  if (wish === 'patch') return `${major}.${minor}.${patch + 1}`;
  const [, ...wished] = VERSION.exec(wish)?.map(Number) ?? [];
  if (wished.length === 0)
    throw new CannotRelease(`"${wish}" is none of ${BUMPS.join(', ')}, and no version like 1.2.3`);
  const differs = parts.findIndex((part, index) => part !== wished[index]);
  if (differs < 0 || wished[differs] < parts[differs])
    throw new CannotRelease(`${wish} is not later than ${version}, the version of package.json`);
  return wish;
}

/** The same changelog with an empty section "Unreleased" above that of the version. @param date YYYY-MM-DD */
const releasedChangelog = (changelog, version, date) =>
  changelog.replace(`${HEADING}\n`, () => `${HEADING}\n\n## [${version}] - ${date}\n`);

const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

function assertReady(tag) {
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new CannotRelease(`commit or remove these changes first:\n${changed}`);
  if (git('branch', '--show-current') === '') throw new CannotRelease('check out a branch first');
  if (git('tag', '--list', tag) !== '') throw new CannotRelease(`the tag ${tag} exists already`);
}

/** The text with another version in its first `times` fields of that name; all else, and its layout, stays. */
function withVersion(text, version, times) {
  let left = times;
  return text.replaceAll(/("version": )"[^"]*"/g, (field, name) =>
    left-- > 0 ? `${name}"${version}"` : field,
  );
}

const changedFiles = (version, date) => [
  ['CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), version, date)],
  ['package.json', withVersion(read('package.json'), version, 1)],
  // That of the package is there twice: at the top, and as that of its folder.
  ['package-lock.json', withVersion(read('package-lock.json'), version, 2)],
];

function release(wish, isDryRun) {
  const { version: current, name } = JSON.parse(read('package.json'));
  const entries = unreleasedEntries(read('CHANGELOG.md'));
  const version = nextVersion(current, wish ?? bumpFor(entries, current));
  const tag = `v${version}`;
  assertReady(tag);
  const date = new Date().toISOString().slice(0, 10);
  const commands = [
    ['git', 'add', ...FILES],
    ['git', 'commit', '--quiet', '--message', `Release ${version}`],
    ['git', 'tag', '--annotate', tag, '--message', `${name} ${version}`],
  ];
  const does = isDryRun ? 'Would release' : 'Releasing';
  console.log(`${does} ${name} ${version} (now ${current}).\n`);
  console.log(`CHANGELOG.md gets:\n\n## [${version}] - ${date}\n\n${entries}\n`);
  console.log(`package.json and package-lock.json get "version": "${version}".\n`);
  for (const command of commands) console.log(`$ ${command.map(shown).join(' ')}`);
  if (isDryRun) {
    console.log('\nNothing was changed.');
    return 0;
  }
  for (const [file, text] of changedFiles(version, date)) writeFileSync(join(ROOT, file), text);
  for (const [command, ...args] of commands) {
    const code = run(command, args);
    if (code !== 0) {
      console.error(
        `That failed. To start again: git reset --hard ${git('rev-parse', '--short', 'HEAD')}`,
      );
      return code;
    }
  }
  console.log(`\nDone. Next (docs/releasing.md): git push --follow-tags && npm publish`);
  return 0;
}

const shown = (word) => (/^[\w./-]+$/.test(word) ? word : `"${word}"`);

function main() {
  let given;
  try {
    const options = { 'dry-run': { type: 'boolean' }, help: { type: 'boolean' } };
    given = parseArgs({ options, allowPositionals: true });
    if (given.positionals.length > 1) throw new Error('give one version');
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (given.values.help) {
    console.log(USAGE);
    return 0;
  }
  try {
    return release(given.positionals[0], given.values['dry-run'] === true);
  } catch (error) {
    if (!(error instanceof CannotRelease)) throw error;
    console.error(`Cannot release: ${error.message}`);
    return 1;
  }
}

process.exitCode = main();
