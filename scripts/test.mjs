// npm test: installs what is missing, builds, checks, and runs the tests of the first tier: those that
// start no other program, and of each surface the real thing once. npm run test:slow runs the others,
// whose files are called *.slow.test.ts, and npm run test:all all of them.
// npm test -- test/config: runs the tests of a folder only, of both tiers. Arguments go to jest.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build, isStale } from './build.mjs';
import { installWhenNeeded } from './install.mjs';
import { filesBelow, onPath, ROOT, run, runInBackground } from './workspace.mjs';

/** Debian packages, and what shows that each is there. */
const TOOLS = [
  { name: 'postfix', present: () => onPath('postfix') },
  { name: 'chromium-headless-shell', present: () => onPath('chromium-headless-shell') },
];
const SLOW_TOOLS = [
  { name: 'strace', present: () => onPath('strace') },
  { name: 'swaks', present: () => onPath('swaks') },
  { name: 'nginx-light', present: () => onPath('nginx') },
  { name: 'prometheus', present: () => onPath('promtool') },
  { name: 'zsh', present: () => onPath('zsh') },
  { name: 'fish', present: () => onPath('fish') },
  { name: 'libnet-ssleay-perl', present: () => runs('perl', ['-MNet::SSLeay', '-e1']) },
  { name: 'python3-socketio', present: () => runs('/usr/bin/python3', ['-c', 'import socketio']) },
  { name: 'python3-aiohttp', present: () => runs('/usr/bin/python3', ['-c', 'import aiohttp']) },
];

const SLOW = '[.]slow[.]test[.]ts$';
const TIERS = {
  first: { tools: TOOLS, args: ['--testPathIgnorePatterns', SLOW] },
  slow: { tools: [...TOOLS, ...SLOW_TOOLS], args: ['--testPathPatterns', SLOW] },
  all: { tools: [...TOOLS, ...SLOW_TOOLS], args: [] },
};

function runs(program, args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

const missingOf = (tools) => tools.filter(({ present }) => !present()).map(({ name }) => name);

/** @returns the packages that are missing and could not be installed */
function installTools(tools) {
  const missing = missingOf(tools);
  if (missing.length === 0) return [];
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.error(`Installing ${missing.join(', ')} (apt-get) ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const install = ['install', '-y', '-q', '--no-install-recommends', ...missing];
    if (run('apt-get', ['update', '-q'], { env }) === 0) run('apt-get', install, { env });
  }
  return missingOf(tools);
}

function warn(missing) {
  const line = '!'.repeat(78);
  console.error(
    `${line}\n!! Not installed: ${missing.join(', ')}\n` +
      '!! The tests that need them are SKIPPED. As root, npm test installs them with apt-get;\n' +
      `!! or: sudo apt-get install ${missing.join(' ')}\n${line}`,
  );
}

/** Resolves with jest's exit code. */
async function jest(args) {
  const stdio = 'inherit';
  const tests = spawn('npm', ['run', '--silent', 'jest', '--', ...args], { cwd: ROOT, stdio });
  const [code] = await once(tests, 'exit');
  return code ?? 1;
}

/** What needs no setting up, and a build only when dist/ is older than src/: threads run from there. */
async function runOnly(args) {
  const built = isStale() ? build() : 0;
  return built === 0 ? jest(args) : built;
}

/** Side by side with the checks: the tests wait for browsers and other processes often enough. */
async function runTier(name, withoutTools) {
  const { tools, args } = TIERS[name];
  await installWhenNeeded();
  const missing = installTools(tools);
  if (missing.length > 0) warn(missing);
  const needed = missing.filter((tool) => TOOLS.some((each) => each.name === tool));
  if (needed.length > 0 && !withoutTools) {
    console.error(`Nothing was run. Without ${needed.join(' and ')}: npm test -- --without-tools`);
    return 1;
  }
  const built = isStale() ? build() : 0;
  if (built !== 0) return built;
  const checked = name === 'slow' ? true : runInBackground('check');
  const code = await jest(args);
  const passed = await checked;
  if (!passed) console.error('npm run check FAILED: see above');
  if (name === 'first') console.error(leftOut());
  return passed ? code : 1;
}

function leftOut() {
  const count = filesBelow(join(ROOT, 'test')).filter((file) => /[.]slow[.]test[.]ts$/.test(file));
  return (
    `Left out: ${count.length} files of tests that start browsers, databases and other programs (*.slow.test.ts), and ` +
    'most cases of properties. Run them with: npm run test:slow, or everything with: npm run test:all'
  );
}

const own = new Set(['--slow', '--all', '--without-tools']);
const [options, args] = [[], []];
for (const arg of process.argv.slice(2)) (own.has(arg) ? options : args).push(arg);
const tier = options.includes('--all') ? 'all' : options.includes('--slow') ? 'slow' : 'first';
if (tier !== 'first') process.env.SLUICE_TEST_WHOLE = '1';
process.exitCode =
  args.length > 0 ? await runOnly(args) : await runTier(tier, options.includes('--without-tools'));
