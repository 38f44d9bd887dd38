import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'acorn';
import { z } from 'zod';
import { MAIN, openScene } from '../support/built-program.ts';

test('engines in package.json has the same versions', () => {
  const manifest = z
    .object({ engines: z.object({ node: z.string() }) })
    .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));
  expect(manifest.engines.node).toBe('^20.19.0 || ^22.12.0 || >=24.0.0');
});

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

test.each(['12.22.0', '19.99.0', '20.18.9', '21.7.0', '22.11.0', '23.11.0'])(
  'Node %s is told that it is none of those that are needed, before anything is loaded',
  (version) => {
    const { status, stderr } = runUnder(version);
    expect(stderr).toMatch(
      new RegExp(`^sluice: this is Node ${version} .* needs Node 20.19, 22.12`),
    );
    // No stack of anything that is missing.
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(2);
  },
);

test.each(['20.19.0', '22.12.0', '24.0.0', '26.1.0'])('Node %s loads the program', (version) => {
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
