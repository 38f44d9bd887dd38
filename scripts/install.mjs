// Installs the locked packages. The database driver is native code: where its releases have no file for
// this Node and machine, it is compiled, which takes most of the time of a first start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { modifiedAt, onPath, ROOT } from './workspace.mjs';

const DRIVER = join(ROOT, 'node_modules/better-sqlite3');
const DOWNLOADER = join(ROOT, 'node_modules/prebuild-install/bin.js');
/** For a file of a few megabytes. */
const DOWNLOAD_MS = 60_000;
/** How often a wait says that it goes on. */
const STILL_AT_WORK_MS = 30_000;
const COMPILER = ['python3', 'make', 'c++'];

/** A package that only tests need: `npm start` installs none of them (test/package.json). */
const hasTestPackages = () => existsSync(join(ROOT, 'node_modules/jest'));

/**
 * Installs the locked packages when some are missing, or when the lock file is newer. A failure ends the script.
 * @param withTests whether those of test/package.json are needed, too; once installed, they stay
 * @param meanwhile called while the database driver is made; what else needs the packages
 */
export async function installWhenNeeded({ withTests = true, meanwhile = () => undefined } = {}) {
  const installed = modifiedAt(join(ROOT, 'node_modules/.package-lock.json'));
  const isCurrent = installed >= modifiedAt(join(ROOT, 'package-lock.json'));
  if (isCurrent && (hasTestPackages() || !withTests)) return;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  const workspaces = withTests || hasTestPackages() ? [] : ['--workspaces=false'];
  // All packages with scripts but the driver are for tests.
  const scripts = workspaces.length === 0 ? [] : ['--ignore-scripts'];
  console.error(`Installing packages (${['npm ci', ...workspaces, ...scripts].join(' ')}) ...`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const installing = start('npm', ['ci', ...quiet, ...workspaces, ...scripts], ROOT);
  if ((await installing.ends(elapsed, 'installing')) !== 0) fail(installing);
  console.error(`Installed the packages in ${elapsed()}.`);
  if (scripts.length > 0) await makeDriver(meanwhile, elapsed);
}

/** Downloads the database driver, or compiles it. */
async function makeDriver(meanwhile, elapsed) {
  const download = start(process.execPath, [DOWNLOADER], DRIVER, DOWNLOAD_MS);
  if ((await download.ends(elapsed, 'downloading the database driver')) === 0) return;
  const missing = COMPILER.filter((program) => !onPath(program));
  const what = `No prebuilt database driver (better-sqlite3) can be had for Node ${process.versions.node} here`;
  if (missing.length > 0) {
    console.error(
      `${what}, and it cannot be compiled without ${missing.join(', ')}. On Debian or Ubuntu: ` +
        'sudo apt-get install python3 make g++. Then run this again.',
    );
    process.exit(1);
  }
  console.error(
    `${what}: SQLite is compiled now, which takes about two minutes, beside the build.`,
  );
  const compiling = start('npm', ['rebuild', 'better-sqlite3', '--loglevel=error'], ROOT);
  meanwhile();
  if ((await compiling.ends(elapsed, 'compiling the database driver')) !== 0) fail(compiling);
}

/** Starts a program whose output is shown only if it fails. */
function start(program, args, cwd, timeout) {
  const child = spawn(program, args, { cwd, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part));
  const ended = once(child, 'close').then(([code]) => code ?? 1);
  return {
    output,
    /** Resolves with its exit code; says from time to time that it goes on. */
    async ends(elapsed, what) {
      const reminder = setInterval(
        () => console.error(`  ${elapsed()}: still ${what}`),
        STILL_AT_WORK_MS,
      );
      return ended.finally(() => clearInterval(reminder));
    },
  };
}

function fail({ output }) {
  process.stderr.write(Buffer.concat(output));
  console.error('The packages were not installed; see above.');
  process.exit(1);
}
