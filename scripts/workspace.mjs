import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** The folder of the checkout: every script works from anywhere. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SRC = join(ROOT, 'src');
export const DIST = join(ROOT, 'dist');

/** All threads, which are bundled with their packages, below src/ and dist/. */
export const BUNDLED_THREADS = [
  'channels/email/authentication/authentication-worker',
  'channels/email/normalize/threads/worker',
  'channels/email/view/worker',
  'gateway/delivery/delivery-worker',
  'spool/search/search-worker',
  'spool/sqlite/checkpoint-worker',
  'spool/sqlite/store-worker',
];

/** What the package exports; below src/ and dist/. */
export const LIBRARY = 'index';

/** The program, which is bundled too; `entry` is below src/. */
export const PROGRAM = { entry: 'cli/start', folder: join(DIST, 'program') };

/** Runs a program in the checkout with its output shown; returns its exit code. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  if (error) throw error;
  return status ?? 1;
}

/** Runs a script of package.json; what it printed is shown when it is done. Resolves with whether it passed. */
export function runInBackground(script) {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { cwd: ROOT });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = Math.round((performance.now() - started) / 1000);
      console.error(`${script}: ${code === 0 ? 'passed' : 'FAILED'}, ${seconds} s`);
      process.stderr.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

/** A package that only tests need: `npm start` installs none of them (test/package.json). */
const hasTestPackages = () => existsSync(join(ROOT, 'node_modules/jest'));
/** How often an installation says that it goes on. */
const STILL_AT_WORK_MS = 10_000;

/**
 * Installs the locked packages when some are missing, or when the lock file is newer. A failure ends the script.
 * @param withTests whether those of test/package.json are needed, too; once installed, they stay
 */
export async function installWhenNeeded({ withTests = true } = {}) {
  const installed = modifiedAt(join(ROOT, 'node_modules/.package-lock.json'));
  const isCurrent = installed >= modifiedAt(join(ROOT, 'package-lock.json'));
  if (isCurrent && (hasTestPackages() || !withTests)) return;
  const workspaces = withTests || hasTestPackages() ? [] : ['--workspaces=false'];
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  console.error(
    `Installing packages (npm ci${workspaces.map((option) => ` ${option}`).join('')}). This takes a minute or two when the ` +
      'database driver has to be compiled ...',
  );
  const args = ['ci', '--no-audit', '--no-fund', ...workspaces];
  const child = spawn('npm', args, { cwd: ROOT, stdio: 'inherit' });
  const reminder = setInterval(
    () => console.error(`  still installing, ${elapsed()}${isCompiling() ? ': compiling' : ''}`),
    STILL_AT_WORK_MS,
  );
  const [code] = await once(child, 'exit').finally(() => clearInterval(reminder));
  if (code === 0) {
    console.error(`Installed in ${elapsed()}.`);
    return;
  }
  console.error(
    'The packages were not installed; see above. If better-sqlite3 could neither be downloaded nor compiled: it needs ' +
      'Python 3, make and a C++ compiler, or access to the prebuilt files of its releases on GitHub.',
  );
  process.exit(code ?? 1);
}

/** node-gyp writes its makefiles first. */
const isCompiling = () => existsSync(join(ROOT, 'node_modules/better-sqlite3/build/Makefile'));

/** Milliseconds since the epoch; 0 for a file that is not there. */
export function modifiedAt(file) {
  return existsSync(file) ? statSync(file).mtimeMs : 0;
}

/** Every file below a folder, as paths relative to it. */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Puts a folder that is complete in the place of an older one, which goes: nobody reads half of it. */
export function swapFolder(folder, target) {
  const old = `${folder}-old`;
  try {
    renameSync(target, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(folder, target);
  rmSync(old, { recursive: true, force: true });
}
