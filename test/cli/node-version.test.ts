import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'acorn';
import { z } from 'zod';
import { MAIN, openScene } from '../support/built-program.ts';

const manifest = z
  .object({ engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));
const needed = manifest.engines.node.replace('>=', '');

/** The first file of the program alone, under a Node that says it is of this version. */
function runUnder(version: string) {
  const { path } = openScene();
  const main = join(path, 'main.js');
  copyFileSync(MAIN, main);
  writeFileSync(join(path, 'package.json'), '{"type": "module"}');
  const preload = join(path, 'preload.cjs');
  const versions = `{ ...process.versions, node: '${version}' }`;
  writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const { status, stderr } = spawnSync(process.execPath, ['--require', preload, main, 'serve'], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

const [major = 0, minor = 0] = needed.split('.').map(Number);

test.each(['12.22.0', `${major - 1}.99.0`, `${major}.${minor - 1}.9`])(
  'Node %s is told that it is too old, and which is needed, before anything is loaded',
  (version) => {
    const { status, stderr } = runUnder(version);
    expect(stderr).toMatch(new RegExp(`^sluice: this is Node ${version} .* needs Node ${needed} `));
    // No stack of anything that is missing.
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(2);
  },
);

test.each([`${needed}.0`, `${major + 1}.0.0`])('Node %s loads the program', (version) => {
  // Which is not there.
  expect(runUnder(version).stderr).toMatch(
    /cannot be loaded.*ERR_MODULE_NOT_FOUND|cli\/start\.js/s,
  );
});

test('the first file is of a syntax that an old Node reads, and imports nothing before it looks', () => {
  // Node 12 has no optional chaining, no ??, no private fields and no await outside of functions.
  const { body } = parse(readFileSync(MAIN, 'utf8'), {
    ecmaVersion: 2023,
    sourceType: 'module',
  });
  expect(body.filter(({ type }) => type.startsWith('Import'))).toEqual([]);
  const text = JSON.stringify(body);
  expect(text).not.toMatch(/"(?:ChainExpression|AwaitExpression|ClassDeclaration)"/);
  expect(text).not.toMatch(/"operator":"(?:\?\?|\?\?=|\|\|=|&&=)"/);
});
