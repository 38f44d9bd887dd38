import { spawn, spawnSync } from 'node:child_process';
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

/** Whether a program is installed, also among those for administrators. */
export function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  return folders.some((folder) => existsSync(join(folder, program)));
}

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
