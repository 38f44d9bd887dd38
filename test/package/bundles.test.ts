import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const DIST = new URL('../../dist/', import.meta.url);

/** Each thread with a package that it cannot do without. */
const THREADS = [
  ['channels/email/authentication/authentication-worker', 'mailauth'],
  ['channels/email/normalize/threads/worker', 'mailparser'],
  ['channels/email/view/worker', 'mailparser'],
  ['gateway/delivery/delivery-worker', 'undici'],
  ['spool/search/search-worker', undefined],
  ['spool/sqlite/checkpoint-worker', undefined],
  ['spool/sqlite/store-worker', undefined],
] as const;
/** The native package. */
const DRIVER = 'better-sqlite3';

/** What is imported by a statement, a call of `import` or of the bundler's `require`. */
const IMPORTS = /^import [^"'\n]*["']([^"'\n]+)["']|\b(?:import|__require)\(["']([^"'\n]+)["']\)/gm;
/** Types in comments are written as imports. */
const COMMENT = /^\s*(?:\/?\*|\/\/).*$/gm;

describe.each(THREADS)('the bundle of %s', (thread, needed) => {
  const file = new URL(`${thread}.js`, DIST);
  const code = readFileSync(file, 'utf8');

  test("imports nothing but Node's own modules, and those of the database its driver", () => {
    const imported = importsOf(file);
    expect(imported).toContain('node:worker_threads');
    expect(imported.includes(DRIVER)).toBe(thread.startsWith('spool/'));
    // Also of later versions: undici would keep its cache in node:sqlite, if it had one.
    const others = imported.filter(
      (name) => !isBuiltin(name) && !name.startsWith('node:') && name !== DRIVER,
    );
    expect(others).toEqual([]);
  });

  test('has the licences of the packages in it beside it', () => {
    const named = licensedIn(new URL(`${thread}.licenses.md`, DIST));
    const packages = packagesIn(file);
    if (needed !== undefined) expect(packages).toContain(needed);
    expect(packages.filter((name) => !named.has(name))).toEqual([]);
  });

  test('has a source map that leads to src/', () => {
    expect(code).toMatch(/\n\/\/# sourceMappingURL=\S+\.map\s*$/);
    const ours = sourcesOf(file).filter((source) => !source.includes('/node_modules/'));
    expect(ours).toContain(fileURLToPath(new URL(`../src/${thread}.ts`, DIST)));
    expect(ours.filter((source) => !existsSync(source))).toEqual([]);
  });
});

describe('the bundle of the program', () => {
  const folder = new URL('program/', DIST);
  const parts = readdirSync(folder).filter((name) => name.endsWith('.js'));
  // The bundler's own functions have no source.
  const mapped = parts.filter((name) => existsSync(new URL(`${name}.map`, folder)));

  test('imports no package but the native one and those that few gateways load', () => {
    const imported = new Set(parts.flatMap((name) => importsOf(new URL(name, folder))));
    const packages = [...imported].filter(
      (name) => !isBuiltin(name) && !/^(?:\.\/|node:)/.test(name),
    );
    expect(packages.toSorted()).toEqual([
      '@aws-sdk/client-s3',
      'better-sqlite3',
      'openai',
      'twilio',
    ]);
  });

  test('is what the command runs', () => {
    expect(readFileSync(new URL('cli/start.js', DIST), 'utf8')).toContain('../program/start.js');
    expect(parts).toContain('start.js');
  });

  test('has the licences of the packages in it beside it', () => {
    const named = licensedIn(new URL('licenses.md', folder));
    const packages = new Set(mapped.flatMap((name) => packagesIn(new URL(name, folder))));
    expect(packages).toContain('express');
    expect([...packages].filter((name) => !named.has(name))).toEqual([]);
  });
});

function importsOf(file: URL): readonly string[] {
  const code = readFileSync(file, 'utf8').replace(COMMENT, '');
  return [...code.matchAll(IMPORTS)].map(([, name, called]) => name ?? called ?? '');
}

function licensedIn(file: URL): ReadonlySet<string | undefined> {
  const licences = readFileSync(file, 'utf8');
  return new Set([...licences.matchAll(/^## (\S+) - /gm)].map(([, name]) => name));
}

function packagesIn(file: URL): readonly string[] {
  const packages = sourcesOf(file).flatMap(
    (source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [],
  );
  return [...new Set(packages)];
}

/** The files that a bundle was made of, as its source map names them. */
function sourcesOf(file: URL): readonly string[] {
  // The bundler's output, in the format of source maps.
  const { sources } = JSON.parse(readFileSync(new URL(`${file.href}.map`), 'utf8')) as {
    sources: readonly string[];
  };
  return sources
    .filter((source) => !source.startsWith('\0'))
    .map((source) => fileURLToPath(new URL(source, file)));
}
