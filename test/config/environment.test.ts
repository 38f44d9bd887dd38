import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/environment.ts';
import { loadConfig, type Loaded } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { Secret } from '../../src/config/secret.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let dir: ReturnType<typeof tempDir>;
beforeEach(() => void (dir = tempDir()));
afterEach(() => dir.remove());

function write(text: string, name = 'sluice.yaml'): string {
  const file = join(dir.path, name);
  writeFileSync(file, text);
  return file;
}

type Env = Readonly<Record<string, string>>;

function valid(env: Env, text?: string) {
  const loaded = loadConfig({ env, ...(text !== undefined && { file: write(text) }) });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  return loaded;
}

/** A key of the configuration by its path, a secret as what it holds. */
function valueAt({ config }: Extract<Loaded, { ok: true }>, path: readonly (string | number)[]) {
  const found = path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : value),
    config,
  );
  return found instanceof Secret ? found.reveal() : found;
}

/** What people read: pages, files to copy, what an image sets. `SLUICE_TEST_` is for the tests. */
function documented(): ReadonlySet<string> {
  const files = [
    ...['README.md', 'Dockerfile', 'compose.yaml'],
    ...readdirSync(join(ROOT, 'docs')).flatMap((name) =>
      name.endsWith('.md') ? [`docs/${name}`] : [],
    ),
    ...readdirSync(join(ROOT, 'config'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ya?ml|service)$/.test(name))
      .map((name) => `config/${name}`),
    'src/cli/program.ts',
  ];
  const text = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
  return new Set([...text.matchAll(/\bSLUICE_(?!TEST_)[A-Z_]*[A-Z]/g)].map(([name]) => name));
}

/** Of each variable, a value that differs from the default, and another one. */
const VALUES: Readonly<Record<string, readonly [string, string]>> = {
  SLUICE_DATA_DIR: ['/var/lib/one', '/var/lib/other'],
  SLUICE_SPOOL_URL: ['postgres://db.example/one', 'postgres://db.example/other'],
  SLUICE_LOG_LEVEL: ['debug', 'warn'],
  SLUICE_LOG_FORMAT: ['json', 'pretty'],
  SLUICE_ADMIN_HOST: ['127.0.0.2', '127.0.0.3'],
  SLUICE_ADMIN_PASSWORD: ['hunter2-of-the-env', 'hunter2-of-the-file'],
};

/** `{log: {level: "warn"}}` */
const yaml = (path: readonly (string | number)[], value: string): string =>
  path.reduceRight<string>((inner, key) => `{${key}: ${inner}}`, JSON.stringify(value));

const cases = [...VARIABLES].map(([name, path]) => {
  const [value = '', other = ''] = VALUES[name] ?? [];
  return { name, path, value, other };
});

describe('each documented variable', () => {
  test('is one that sets a key, or names the file', () => {
    const named = [...documented()].map((name) => name.replace(/(?<!CONFIG)_FILE$/, ''));
    expect([...new Set(named)].toSorted()).toEqual(
      [...VARIABLES.keys(), 'SLUICE_CONFIG'].toSorted(),
    );
    expect(Object.keys(VALUES)).toEqual([...VARIABLES.keys()]);
  });

  test.each(cases)('$name takes effect without a line in a file', ({ name, path, value }) => {
    const loaded = valid({ [name]: value });
    expect(valueAt(loaded, path)).toBe(value);
    expect(valueAt(valid({}), path)).not.toBe(value);
    expect(loaded.warnings.filter((warning) => warning.includes('SLUICE'))).toEqual([]);
    expect(valueAt(valid({ [name]: '' }), path)).toBe(valueAt(valid({}), path));
  });

  test.each(cases)('$name takes effect beside a file without its key', ({ name, path, value }) => {
    expect(valueAt(valid({ [name]: value }, 'smtp: {port: 25}'), path)).toBe(value);
  });

  test.each(cases)('$name gives way to its key in the file, and is told so', (given) => {
    const { name, path, value, other } = given;
    const loaded = valid({ [name]: value }, yaml(path, other));
    expect(valueAt(loaded, path)).toBe(other);
    const ignored = loaded.warnings.filter((warning) => warning.startsWith(`${name} is ignored`));
    expect(ignored).toEqual([
      expect.stringContaining(`${path.join('.')} in ${dir.path}/sluice.yaml:1:`),
    ]);
    expect(ignored.join()).not.toContain('hunter2');
    expect(valid({ [name]: value }, yaml(path, value)).warnings.join()).not.toContain(name);
  });

  test.each(cases)('$name comes from a file too', ({ name, path, value, other }) => {
    const file = write(`${value}\n`, 'value');
    expect(valueAt(valid({ [`${name}_FILE`]: file }), path)).toBe(value);
    // A variable that compose.yaml leaves empty counts as none.
    expect(valueAt(valid({ [`${name}_FILE`]: file, [name]: '' }), path)).toBe(value);
    const both = loadConfig({ env: { [`${name}_FILE`]: file, [name]: other } });
    expect(both).toMatchObject({
      ok: false,
      mistakes: [{ path: path.join('.'), expected: `${name} or ${name}_FILE, not both` }],
    });
    const missing = loadConfig({ env: { [`${name}_FILE`]: `${file}-not` } });
    expect(missing).toMatchObject({
      ok: false,
      mistakes: [
        { expected: expect.stringContaining(`${file}-not`), found: 'no such file (ENOENT)' },
      ],
    });
  });

  test('SLUICE_CONFIG names the file', () => {
    const loaded = loadConfig({ env: { SLUICE_CONFIG: write('smtp: {port: 25}') } });
    expect(loaded).toMatchObject({ ok: true, config: { smtp: { port: 25 } }, warnings: [] });
  });
});

test('only the last line end of a file is left out', () => {
  const passwordFrom = (text: string) =>
    valueAt(valid({ SLUICE_ADMIN_PASSWORD_FILE: write(text, 'password') }), ['admin', 'password']);
  expect(passwordFrom('  with spaces  ')).toBe('  with spaces  ');
  expect(passwordFrom('of windows\r\n')).toBe('of windows');
});

test('${NAME} in the file takes what a _FILE variable holds', () => {
  const env = { SLUICE_ADMIN_PASSWORD_FILE: write('hunter2-password\n', 'password') };
  const loaded = valid(env, 'admin: {password: "${SLUICE_ADMIN_PASSWORD}"}');
  expect(valueAt(loaded, ['admin', 'password'])).toBe('hunter2-password');
  expect(loaded.warnings).toEqual([]);
});

test('what stands in a _FILE is in no mistake, warning or print of the configuration', () => {
  const secret = write('hunter2\n', 'secret');
  for (const [name] of VARIABLES) {
    const env = { [`${name}_FILE`]: secret };
    for (const text of [undefined, 'log: {level: loud}']) {
      const loaded = loadConfig({ env, ...(text !== undefined && { file: write(text) }) });
      const said = loaded.ok ? inspect(loaded.warnings) : renderMistakes(loaded.mistakes);
      expect(said).not.toContain('hunter2');
      if (loaded.ok && name.endsWith('PASSWORD')) {
        expect(inspect(loaded.config, { depth: null })).not.toContain('hunter2');
      }
    }
  }
});

test('a wrong value is reported with the name of its variable', () => {
  const loaded = loadConfig({ env: { SLUICE_LOG_LEVEL: 'debgu' } });
  if (loaded.ok) throw new Error('the configuration was accepted');
  expect(renderMistakes(loaded.mistakes)).toContain(
    'log.level  (the environment, SLUICE_LOG_LEVEL)\n' +
      '  expected: one of info, debug, warn, error\n' +
      '  found:    "debgu"\n' +
      '  fix:      write debug\n',
  );
});

test.each([
  ['SLUICE_DATADIR', 'did you mean SLUICE_DATA_DIR?'],
  ['SLUICE_ADMIN_PASWORD_FILE', 'did you mean SLUICE_ADMIN_PASSWORD_FILE?'],
  ['SLUICE_CONFIG_FILE', 'did you mean SLUICE_CONFIG?'],
  ['SLUICE_SOMETHING_ELSE_ALTOGETHER', 'there are SLUICE_CONFIG, SLUICE_DATA_DIR, '],
])('%s is not known, and what was meant is named', (name, said) => {
  const { warnings } = valid({ [name]: 'hunter2' });
  expect(warnings).toEqual([expect.stringContaining(`${name} is unknown and ignored; `)]);
  expect(warnings[0]).toContain(said);
  expect(warnings[0]).not.toContain('hunter2');
});

test('a variable that the file takes, and those of Kubernetes services, are no mistakes', () => {
  const env = {
    SLUICE_HOSTNAME: 'mx.acme.example',
    SLUICE_HTTP_SERVICE_HOST: '10.0.0.1',
    SLUICE_HTTP_SERVICE_PORT_HTTP: '80',
    SLUICE_HTTP_PORT: 'tcp://10.0.0.1:80',
    SLUICE_HTTP_PORT_80_TCP_ADDR: '10.0.0.1',
  };
  expect(valid(env, 'smtp: {hostname: "${SLUICE_HOSTNAME}"}').warnings).toEqual([]);
  expect(valid({ SLUICE_HTTP_PORT: '8080' }).warnings).toHaveLength(1);
});
