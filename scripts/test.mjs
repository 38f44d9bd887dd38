// npm test: installs what is missing, builds, checks, and runs every test. Arguments go to jest:
//   npm test -- test/config
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { build } from './build.mjs';
import { installWhenNeeded, ROOT, run, runInBackground } from './workspace.mjs';

/** Debian packages, and what shows that each is there. */
const TOOLS = [
  { name: 'strace', present: () => onPath('strace') },
  { name: 'postfix', present: () => onPath('postfix') },
  { name: 'swaks', present: () => onPath('swaks') },
  { name: 'nginx-light', present: () => onPath('nginx') },
  { name: 'prometheus', present: () => onPath('promtool') },
  { name: 'chromium', present: () => existsSync('/usr/bin/chromium') },
  { name: 'zsh', present: () => onPath('zsh') },
  { name: 'fish', present: () => onPath('fish') },
  { name: 'libnet-ssleay-perl', present: () => runs('perl', ['-MNet::SSLeay', '-e1']) },
  { name: 'python3-socketio', present: () => runs('/usr/bin/python3', ['-c', 'import socketio']) },
  { name: 'python3-aiohttp', present: () => runs('/usr/bin/python3', ['-c', 'import aiohttp']) },
];

function runs(program, args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  return folders.some((folder) => existsSync(`${folder}/${program}`));
}

function installTools() {
  const missing = TOOLS.filter(({ present }) => !present()).map(({ name }) => name);
  if (missing.length === 0) return;
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.error(`Installing ${missing.join(', ')} (apt-get) ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const install = ['install', '-y', '-q', '--no-install-recommends', ...missing];
    if (run('apt-get', ['update', '-q'], { env }) === 0) run('apt-get', install, { env });
  }
  const left = TOOLS.filter(({ present }) => !present()).map(({ name }) => name);
  if (left.length > 0) warn(left);
}

function warn(missing) {
  const line = '!'.repeat(78);
  console.error(
    `${line}\n!! Not installed: ${missing.join(', ')}\n` +
      '!! The tests that need them are SKIPPED. As root, npm test installs them with apt-get;\n' +
      `!! or: sudo apt-get install ${missing.join(' ')}\n${line}`,
  );
}

installWhenNeeded();
installTools();
const built = build();
if (built !== 0) process.exit(built);
// Side by side: the tests wait for browsers and other processes often enough.
const checked = runInBackground('check');
const tests = spawn('npm', ['run', '--silent', 'jest', '--', ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
});
const [code] = await once(tests, 'exit');
const passed = await checked;
if (!passed) console.error('npm run check FAILED: see above');
process.exitCode = passed ? (code ?? 1) : 1;
