import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { matchesHash, parsePasswordHash } from '../../src/runtime/password-hash.ts';
import { captureTerminal } from '../support/capture-terminal.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });

async function hashed(input: Readable | undefined, ...args: string[]) {
  const terminal = { ...captureTerminal(), ...(input && { input }) };
  const code = await runCli(['config', 'hash-password', ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

test.each(['of-the-console\n', 'of-the-console\r\n', 'of-the-console'])(
  'what a file has is printed as a hash that knows it again: %j',
  async (text) => {
    const { code, stdout, stderr } = await hashed(Readable.from([text]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('of-the-console');
    const hash = parsePasswordHash(stdout.trimEnd());
    if (hash === undefined) throw new Error('the configuration would not take it');
    expect(await matchesHash('of-the-console', hash)).toBe(true);
  },
);

test('for programs, it is an object', async () => {
  const { stdout } = await hashed(Readable.from(['of-the-console\n']), '--json');
  expect(JSON.parse(stdout)).toEqual({ hash: expect.stringMatching(/^\$scrypt\$/) });
});

test.each([
  ['nothing', ['']],
  ['too short a one', ['seven-7']],
  ['two lines', ['of-the-console\nand-more\n']],
  ['a byte that ends strings', ['of-the\0console']],
  ['a whole disk', Array<string>(10_000).fill('x'.repeat(1000))],
])('%s is no password', async (_what, chunks) => {
  const { code, stdout, stderr } = await hashed(Readable.from(chunks));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('expected one line of 8 to 1024 characters');
});

test('a keyboard is not read: what is typed would be seen', async () => {
  for (const input of [undefined, Object.assign(Readable.from([]), { isTTY: true })]) {
    const { code, stderr } = await hashed(input);
    expect(code).toBe(2);
    expect(stderr).toContain('on standard input');
  }
});
