import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { z } from 'zod';

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional() })),
});
const read = (path: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8'));
const { packages } = lockSchema.parse(read('package-lock.json'));

const numbers = (version: string): number[] =>
  version
    .replace(/[-+].*$/, '')
    .split('.')
    .map(Number);
function isAtLeast(version: string, least: string): boolean {
  const [found, wanted] = [numbers(version), numbers(least)];
  const at = wanted.findIndex((number, index) => found[index] !== number);
  return at === -1 || (found[at] ?? 0) > (wanted[at] ?? 0);
}

// Earlier ones let a client exhaust the memory, or crash the process with one packet.
test.each([
  ['engine.io', '6.6.10'],
  ['socket.io-parser', '4.2.7'],
  ['ws', '8.21.0'],
])('%s is %s or later, wherever it is installed', (name, least) => {
  const paths = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) {
    const locked = packages[path]?.version ?? '0';
    const installed = z.object({ version: z.string() }).parse(read(`${path}/package.json`)).version;
    expect([path, locked, isAtLeast(locked, least)]).toEqual([path, locked, true]);
    expect([path, installed, isAtLeast(installed, least)]).toEqual([path, installed, true]);
  }
});
