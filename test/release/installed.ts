import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { freePorts, pack, PlainUser, reachableRegistry } from './plain-user.ts';

/** The driver may have to be compiled, on a machine that may be busy. */
export const TIMEOUT_MS = 900_000;

const registry = await reachableRegistry();
const isPossible = registry !== undefined && process.platform === 'linux' && process.arch === 'x64';
if (!isPossible) {
  console.error(
    '!! SKIPPED: installing the packed gateway: it needs the npm registry, and Linux on x64 for other versions of Node',
  );
}

export const describeWhenPossible = isPossible ? describe : describe.skip;

const dir = tempDir();
/** The packed gateway. */
export let packed: Awaited<ReturnType<typeof pack>>;
beforeAll(async () => {
  // Its reader is another user.
  chmodSync(dir.path, 0o755);
  packed = await pack(dir.path);
});
afterAll(() => dir.remove());

export const plainUser = (): PlainUser => PlainUser.create(registry ?? { url: '', settings: '' });

/** Installs the package, serves all three channels and stops it. @returns the folder */
export async function installAndUse(user: PlainUser): Promise<string> {
  const app = user.folder('app');
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
  return app;
}

/** Each other major of `engines` has a file: a driver may have to be compiled for it. */
export function testUnderNode(version: string): void {
  describeWhenPossible('a plain user with another Node', () => {
    test(
      `installs the package under Node ${version}, serves all three channels and stops it`,
      async () => {
        const user = plainUser();
        await user.useNode(version);
        await installAndUse(user);
      },
      TIMEOUT_MS,
    );
  });
}
