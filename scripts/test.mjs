// npm test: installs what is missing, builds, checks, and runs every test.
// npm test -- test/config: runs these tests only. Arguments go to jest.
// npm run test:fast: checks the types and runs the tests that are quick and start no program.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { build, isStale } from './build.mjs';
import { installWhenNeeded, ROOT, run, runInBackground } from './workspace.mjs';

/** Debian packages, and what shows that each is there. */
const TOOLS = [
  { name: 'strace', present: () => onPath('strace') },
  { name: 'postfix', present: () => onPath('postfix') },
  { name: 'swaks', present: () => onPath('swaks') },
  { name: 'nginx-light', present: () => onPath('nginx') },
  { name: 'prometheus', present: () => onPath('promtool') },
  { name: 'chromium-headless-shell', present: () => onPath('chromium-headless-shell') },
  { name: 'zsh', present: () => onPath('zsh') },
  { name: 'fish', present: () => onPath('fish') },
  { name: 'libnet-ssleay-perl', present: () => runs('perl', ['-MNet::SSLeay', '-e1']) },
  { name: 'python3-socketio', present: () => runs('/usr/bin/python3', ['-c', 'import socketio']) },
  { name: 'python3-aiohttp', present: () => runs('/usr/bin/python3', ['-c', 'import aiohttp']) },
];

/** What test:fast leaves out, below test/: tests that start a browser or another program, or take long. */
const SLOW = [
  '(.*/)?browser/',
  '(cli|deploy|docs|durability|e2e|operations/doctor|package|release|simulation)/',
  '(operations/(alerts/gateway|backup/backup)|observability/(logger|monitoring-files|tracing))',
  'channels/chat/(floods|handshake|limits|messages|uploads/)',
  'channels/chat/replies/(heavy-lists|long-lists|reply-poller)',
  'channels/email/(authentication/gateway|door-http|normalize[.]|properties|smtp-(replies|sessions))',
  'channels/email/(normalize/(fixtures|hostile)|view/message-viewer)[.]',
  'channels/sms/(continuity|door|limits|normalize/media|rules|signature-vectors)[.]',
  'channels/sms/reconciliation/reconciliation',
  'console/server/(actions|entries|guards|sign-in|try-shop|upkeep)[.]',
  'delivery/(conversations|delivery|forbidden|outages)[.]',
  'local-platform/(agent/openai-agent|contract/(addresses|open-points|reference)|store/kill)',
  'local-platform/outbound/(chat-sockets|reply-sender)',
  'spool/(accept-beside|sqlite/(conformance|disk-full|operator-conformance|search-files|store))[.]',
  'spool/sqlite/visitors',
  'widget/engine/(bad-days|create-chat|uploads|visitor)[.]',
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

/** Resolves with jest's exit code. */
async function jest(args) {
  const stdio = 'inherit';
  const tests = spawn('npm', ['run', '--silent', 'jest', '--', ...args], { cwd: ROOT, stdio });
  const [code] = await once(tests, 'exit');
  return code ?? 1;
}

/** What needs no setting up, and a build only when dist/ is older than src/: threads run from there. */
async function runOnly(args, script) {
  const built = isStale() ? build() : 0;
  if (built !== 0) return built;
  const checked = script === undefined ? true : runInBackground(script);
  const code = await jest(args);
  return (await checked) ? code : 1;
}

async function runAll() {
  await installWhenNeeded();
  installTools();
  const built = build();
  if (built !== 0) return built;
  // Side by side: the tests wait for browsers and other processes often enough.
  const checked = runInBackground('check');
  const code = await jest([]);
  const passed = await checked;
  if (!passed) console.error('npm run check FAILED: see above');
  return passed ? code : 1;
}

const args = process.argv.slice(2);
if (args[0] === '--fast') {
  const ignored = SLOW.map((pattern) => `--testPathIgnorePatterns=<rootDir>/test/${pattern}`);
  process.exitCode = await runOnly([...ignored, ...args.slice(1)], 'check:types');
} else {
  process.exitCode = args.length > 0 ? await runOnly(args) : await runAll();
}
