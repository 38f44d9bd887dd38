import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { freePorts, pack, PlainUser, reachableRegistry } from './plain-user.ts';

/** Of each major of `engines`. */
const NODES = ['20.20.2', '22.23.3', '24.9.0'];
/** The driver may have to be compiled, on a machine that may be busy. */
const TIMEOUT_MS = 900_000;
const MAX_PACKED_BYTES = 8 * 1024 * 1024;

const registry = await reachableRegistry();
const isLinux = process.platform === 'linux' && process.arch === 'x64';
const isPossible = registry !== undefined && isLinux;
if (!isPossible) {
  console.error(
    '!! SKIPPED: installing the packed gateway: it needs the npm registry, and Linux on x64 for other versions of Node',
  );
}

const dir = tempDir();
let packed: Awaited<ReturnType<typeof pack>>;
beforeAll(async () => {
  // Its reader is another user.
  chmodSync(dir.path, 0o755);
  packed = await pack(dir.path);
});
afterAll(() => dir.remove());

test('the package holds what runs, with its licences, and nothing else', () => {
  const { files, tarball } = packed;
  const unexpected = files.filter(
    (file) =>
      !/^(?:package\.json|README\.md|LICENSE|config\/.+|dist\/.+\.(?:js|css|svg|json|html|d\.ts|licenses\.md)|dist\/.+\/licenses\.md)$/.test(
        file,
      ),
  );
  expect(unexpected).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/main.js',
      'dist/program/licenses.md',
      'dist/widget/licenses.md',
      'dist/console/page/licenses.md',
      'dist/declarations/index.d.ts',
    ]),
  );
  expect(files.length).toBeLessThan(300);
  expect(statSync(tarball).size).toBeLessThan(MAX_PACKED_BYTES);
});

(isPossible ? describe : describe.skip)('a plain user with nothing but Node and npm', () => {
  test.each(NODES)(
    'installs the package under Node %s, serves all three channels and stops it',
    async (version) => {
      const user = PlainUser.create(registry ?? { url: '', settings: '' });
      const app = user.folder('app');
      const isOwn = version === process.versions.node;
      if (!isOwn) await user.useNode(version);
      const installed = await user.install(packed.tarball, app);
      expect(installed).toEqual({ code: 0, output: expect.stringMatching(/added \d+ packages/) });

      const env = await freePorts();
      const gateway = user.start('npx', ['sluice', 'serve'], app, env);
      await gateway.says(/Sluice is ready/);
      expect(gateway.output).toContain('npx sluice send chat');

      const sluice = async (...args: string[]) => {
        const command = user.start('npx', ['sluice', ...args], app, env);
        const code = await command.ended;
        if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${command.output}`);
        return command.stdout;
      };
      await sluice('send', 'email', 'Where is my order 1001?');
      await sluice('send', 'sms', 'Are you open on Sunday?');
      expect(await sluice('send', 'chat', 'Can I return my shoes?')).toMatch(/return/i);
      // The agent's replies to the email and the text.
      await waitFor('both replies', () => {
        const replies = readdirSync(join(app, 'data/platform/outbox'));
        return replies.length === 2;
      });
      const listed = await sluice('queue', 'list', '--json');
      const entries = JSON.parse(listed) as readonly { channel: string; state: string }[];
      expect(entries.map(({ channel, state }) => `${channel} ${state}`).toSorted()).toEqual([
        'email delivered',
        'sms delivered',
        'web_chat delivered',
      ]);

      await gateway.terminate();
      expect(gateway.output).toMatch(/gateway\.stopped/);
      if (isOwn) await expectAdviceUnderAnotherNode(user, app);
    },
    TIMEOUT_MS,
  );
});

/** No file of the data folder is blamed, which an operator would move away. */
async function expectAdviceUnderAnotherNode(user: PlainUser, app: string): Promise<void> {
  const other = NODES.find((version) => version !== process.versions.node) ?? '';
  await user.useNode(other);
  const { code, output } = await user.run('npx', ['sluice', 'serve'], app);
  expect(output).toContain(
    `the database driver (better-sqlite3) is not built for this Node, ${other}. In the folder that Sluice is ` +
      'installed in, run: npm rebuild better-sqlite3.',
  );
  expect(output).not.toContain('Move it away');
  expect(code).toBe(2);
}
