import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig, type Loaded } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { descriptions } from '../../src/config/field.ts';
import { itemOf, schemaAt } from '../../src/config/schema-paths.ts';
import { configSchema } from '../../src/config/schema.ts';
import { Secret } from '../../src/config/secret.ts';
import { VARIABLES } from '../../src/config/variables.ts';
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
  const plain = (value: unknown): unknown => (value instanceof Secret ? value.reveal() : value);
  return Array.isArray(found) ? found.map(plain) : plain(found);
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
  // `SLUICE_SHOP_…` stands for several.
  const names = text.matchAll(/\bSLUICE_(?!TEST_)[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_])/g);
  return new Set([...names].map(([name]) => name));
}

/** Of each variable, a value that differs from the default, and another one. */
const VALUES: Readonly<Record<string, readonly [string, string, unknown?]>> = {
  SLUICE_DATA_DIR: ['/var/lib/one', '/var/lib/other'],
  SLUICE_SPOOL_URL: ['postgres://db.example/one', 'postgres://db.example/other'],
  SLUICE_LOG_LEVEL: ['debug', 'warn'],
  SLUICE_LOG_FORMAT: ['json', 'pretty'],
  SLUICE_ADMIN_HOST: ['127.0.0.2', '127.0.0.3'],
  SLUICE_ADMIN_PASSWORD: ['hunter2-of-the-env', 'hunter2-of-the-file'],
  SLUICE_STOP_DELAY: ['90s', '2m', 90_000],
  SLUICE_HTTP_PORT: ['9000', '9001', 9000],
  SLUICE_SMTP_LMTP: ['true', 'false', true],
  SLUICE_SMTP_MAX_MESSAGE_BYTES: ['70000', '80000', 70_000],
  SLUICE_DELIVERY_GIVE_UP_AFTER: ['12h', '1d', 43_200_000],
  SLUICE_TRACING_SAMPLE_RATIO: ['0.25', '0.5', 0.25],
  SLUICE_ALERTS_RULES_BAD_SIGNATURES_PER10MIN: ['7', '8', 7],
  SLUICE_LOCAL_PLATFORM_AGENT_STALL_TIMEOUT: ['10s', '20s', 10_000],
};

/** Names that images and manifests use, so they have to stay. */
const EXISTING = [
  ...['SLUICE_DATA_DIR', 'SLUICE_SPOOL_URL', 'SLUICE_LOG_LEVEL', 'SLUICE_LOG_FORMAT'],
  ...['SLUICE_ADMIN_HOST', 'SLUICE_ADMIN_PASSWORD'],
];

/** `{log: {level: "warn"}}` */
const yaml = (path: readonly (string | number)[], value: string): string =>
  path.reduceRight<string>((inner, key) => `{${key}: ${inner}}`, JSON.stringify(value));

const cases = VARIABLES.filter(({ name }) => name in VALUES).map(({ name, path }) => {
  const [value = '', other = '', parsed = value] = VALUES[name] ?? [];
  return { name, path, value, other, parsed };
});

describe('each documented variable', () => {
  test('is one that sets a key, or names the file', () => {
    const named = [...documented()].map((name) => name.replace(/(?<!CONFIG)_FILE$/, ''));
    expect([...new Set(named)].toSorted()).toEqual(
      [...VARIABLES.map(({ name }) => name), 'SLUICE_CONFIG'].toSorted(),
    );
    expect(cases).toHaveLength(Object.keys(VALUES).length);
  });

  test.each(cases)(
    '$name takes effect without a line in a file',
    ({ name, path, value, parsed }) => {
      const loaded = valid({ [name]: value });
      expect(valueAt(loaded, path)).toBe(parsed);
      expect(valueAt(valid({}), path)).not.toBe(parsed);
      expect(loaded.warnings.filter((warning) => warning.includes('SLUICE'))).toEqual([]);
      expect(valueAt(valid({ [name]: '' }), path)).toBe(valueAt(valid({}), path));
    },
  );

  test.each(cases)('$name takes effect beside a file without its key', (given) => {
    const { name, path, value, parsed } = given;
    expect(valueAt(valid({ [name]: value }, 'smtp: {port: 25}'), path)).toBe(parsed);
  });

  test.each(cases)('$name gives way to its key in the file, and is told so', (given) => {
    const { name, path, value, other } = given;
    const loaded = valid({ [name]: value }, yaml(path, other));
    expect(valueAt(loaded, path)).toBe(valueAt(valid({}, yaml(path, other)), path));
    const ignored = loaded.warnings.filter((warning) => warning.startsWith(`${name} is ignored`));
    expect(ignored).toEqual([
      expect.stringContaining(`${path.join('.')} in ${dir.path}/sluice.yaml:1:`),
    ]);
    expect(ignored.join()).not.toContain('hunter2');
    expect(valid({ [name]: value }, yaml(path, value)).warnings.join()).not.toContain(name);
  });

  test.each(cases)('$name comes from a file too', ({ name, path, value, other, parsed }) => {
    const file = write(`${value}\n`, 'value');
    expect(valueAt(valid({ [`${name}_FILE`]: file }), path)).toBe(parsed);
    // A variable that compose.yaml leaves empty counts as none.
    expect(valueAt(valid({ [`${name}_FILE`]: file, [name]: '' }), path)).toBe(parsed);
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
  for (const { name } of VARIABLES) {
    const env = { [`${name}_FILE`]: secret };
    for (const text of [undefined, 'log: {level: loud}']) {
      const loaded = loadConfig({ env, ...(text !== undefined && { file: write(text) }) });
      const said = loaded.ok ? inspect(loaded.warnings) : renderMistakes(loaded.mistakes);
      expect(said).not.toContain('hunter2');
      if (loaded.ok && /PASSWORD|API_KEY$|TOKEN/.test(name)) {
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
  ['SLUICE_SHOP_APIKEY', 'did you mean SLUICE_SHOP_API_KEY?'],
  ['SLUICE_SHOP_SMS_TWILIO_ACCOUNT_SID', 'did you mean SLUICE_SHOP_SMS_ACCOUNT_SID?'],
  ['SLUICE_SOMETHING_ELSE_ALTOGETHER', 'docs/configuration.md lists them'],
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
  expect(valid({ SLUICE_HTTP_PORT: '9000' }).config.http.port).toBe(9000);
});

describe('names', () => {
  const nameAt = (...path: (string | number)[]) =>
    VARIABLES.find((each) => each.path.join() === path.join())?.name;

  test.each<[string | undefined, (string | number)[]]>([
    ['SLUICE_DATA_DIR', ['dataDir']],
    ['SLUICE_HTTP_PUBLIC_URL', ['http', 'publicUrl']],
    ['SLUICE_SMTP_RATES_MESSAGES_PER_MINUTE_PER_IP', ['smtp', 'rates', 'messagesPerMinutePerIp']],
    ['SLUICE_SMTP_TLS_CERT', ['smtp', 'tls', 'cert']],
    ['SLUICE_SHOP_NAME', ['shops', 0, 'name']],
    ['SLUICE_SHOP_ID', ['shops', 0, 'shopId']],
    ['SLUICE_SHOP_SMS_ACCOUNT_SID', ['shops', 0, 'sms', 'twilio', 'accountSid']],
    ['SLUICE_SHOP_CHAT_LIMITS_MESSAGES_PER10S', ['shops', 0, 'chat', 'limits', 'messagesPer10s']],
    // Below a list.
    [undefined, ['admin', 'operators', 0, 'name']],
  ])('%s', (name, path) => expect(nameAt(...path)).toBe(name));

  test('are different, and none is another one with _FILE', () => {
    const names = VARIABLES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.endsWith('_FILE'))).toEqual([]);
    expect(EXISTING.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('stand for keys with a description', () => {
    const without = VARIABLES.filter(({ path }) => {
      const schema = schemaAt(configSchema, path);
      return schema === undefined || !descriptions.has(itemOf(schema) ?? schema);
    });
    expect(without).toEqual([]);
  });
});

describe('lists', () => {
  const relays = (text: string) =>
    valueAt(valid({ SLUICE_SMTP_TRUSTED_RELAYS: text }), ['smtp', 'trustedRelays']);

  test.each([
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.1,::1/128', ['10.0.0.1', '::1/128']],
    [' 10.0.0.1 , 10.0.0.2,', ['10.0.0.1', '10.0.0.2']],
    ['10.0.0.1\n10.0.0.2\r\n', ['10.0.0.1', '10.0.0.2']],
    [',', []],
  ])('%j is %j', (text, items) => expect(relays(text)).toEqual(items));

  test('replace the default, and give way to the file', () => {
    const env = { SLUICE_SMTP_TRUSTED_RELAYS: '10.0.0.1' };
    const loaded = valid(env, 'smtp: {trustedRelays: [10.0.0.2]}');
    expect(valueAt(loaded, ['smtp', 'trustedRelays'])).toEqual(['10.0.0.2']);
    expect(loaded.warnings).toEqual([
      expect.stringContaining('SLUICE_SMTP_TRUSTED_RELAYS is ignored: smtp.trustedRelays in'),
    ]);
    expect(valid(env, 'smtp: {trustedRelays: [10.0.0.1]}').warnings).toEqual([]);
  });
});
