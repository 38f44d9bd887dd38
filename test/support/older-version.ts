import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the two versions share of the database. */
const STORE = 'src/spool/postgres';
const MOST_COMMITS = '200';
const MOST_BYTES = 256 * 1024 * 1024;

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** The last commit with another store in PostgreSQL than this folder's; undefined if there is no history. */
export function lastCommitWithAnotherStore(): string | undefined {
  const commits =
    git('log', '--first-parent', '--format=%H', '-n', MOST_COMMITS)?.split('\n') ?? [];
  return commits.find(
    (commit) => commit !== '' && git('diff', '--quiet', commit, '--', STORE) === undefined,
  );
}

/**
 * Writes that commit's program into a folder. It runs from its sources, which takes no build; only the threads that
 * parse emails and the pages of the console and the widget are those of this version.
 * @returns the arguments of node that run it
 */
export function writeVersion(commit: string, folder: string): readonly string[] {
  const archive = execFileSync(
    'git',
    ['archive', commit, 'package.json', 'src', 'scripts', 'config'],
    {
      cwd: ROOT,
      maxBuffer: MOST_BYTES,
    },
  );
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  for (const shared of ['node_modules', 'dist'])
    symlinkSync(join(ROOT, shared), join(folder, shared));
  return ['--import', join(folder, 'scripts/ts-loader.mjs'), join(folder, 'src/main.ts')];
}
