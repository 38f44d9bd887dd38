import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes, type Mistake } from '../../src/config/mistakes.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => void (dir = tempDir()));
afterEach(() => dir.remove());

function write(text: string, name = 'sluice.yaml'): string {
  const file = join(dir.path, name);
  writeFileSync(file, text);
  return file;
}

function load(text: string, env: Record<string, string> = {}, name?: string) {
  return loadConfig({ file: write(text, name), env });
}

function valid(text: string, env?: Record<string, string>, name?: string) {
  const loaded = load(text, env, name);
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  return loaded;
}

function mistakesOf(text: string, env?: Record<string, string>): readonly Mistake[] {
  const loaded = load(text, env);
  if (loaded.ok) throw new Error('the configuration was accepted');
  return loaded.mistakes;
}

const ACME = `
shops:
  - name: acme
    shopId: 4F9D2C1E-8A57-4B06-9D3E-2F1C7A6B5D40
    apiKey: hunter2-api-key
    email: {addresses: [Support@ACME.example, "*@Help.acme.example"]}
    sms:
      numbers: [+15550001111]
      twilio: {accountSid: AC00000000000000000000000000000001, authTokens: [hunter2-token]}
    chat: {key: acme, origins: ["https://acme.example"]}
`;

test('without a file the defaults are the whole configuration, with no shop', () => {
  const loaded = loadConfig({ env: {} });
  expect(loaded).toMatchObject({
    ok: true,
    warnings: [],
    config: {
      smtp: { port: 2525, maxMessageBytes: 36_700_160, trustedRelays: ['127.0.0.0/8', '::1/128'] },
      admin: { host: '127.0.0.1' },
      spool: { url: 'sqlite', retain: { raw: 604_800_000 } },
      delivery: { giveUpAfter: 432_000_000, requestTimeout: 30_000 },
      shops: [],
    },
  });
});

test('a file overrides key by key; lists are replaced; SLUICE_CONFIG names it too', () => {
  const text = 'smtp: {port: 25, trustedRelays: [10.0.0.1]}\nlog:\n';
  expect(valid(text).config.smtp).toMatchObject({
    port: 25,
    host: '::',
    trustedRelays: ['10.0.0.1'],
  });
  const named = loadConfig({ env: { SLUICE_CONFIG: write(text) } });
  expect(named).toMatchObject({ ok: true, config: { smtp: { port: 25 }, log: { level: 'info' } } });
});

test('JSON is YAML', () => {
  const text = JSON.stringify({ http: { port: 9000, enabled: true }, admin: { password: null } });
  const { config } = valid(text, {}, 'sluice.json');
  expect(config.http.port).toBe(9000);
  expect(config.admin).not.toHaveProperty('password');
});

test('a shop gets its defaults; addresses, ids and numbers come out in one form', () => {
  const [shop] = valid(ACME).config.shops;
  expect(shop).toMatchObject({
    shopId: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
    email: {
      addresses: ['support@acme.example', '*@help.acme.example'],
      quotes: 'known',
      trustedArcSealers: ['google.com', 'microsoft.com', 'outlook.com'],
      loop: { per10min: 10 },
    },
    // Unquoted in the file: nothing makes a number of it.
    sms: { numbers: ['+15550001111'], continuity: 'forever' },
    chat: { allowNoOrigin: false, limits: { socketsPerIp: 50 } },
  });
});

test('the result cannot be changed', () => {
  const { config } = valid(ACME);
  expect(() => Object.assign(config.smtp, { port: 1 })).toThrow(TypeError);
  expect(() => Object.assign(config.shops, { 0: null })).toThrow(TypeError);
});

describe('ten mistakes in one file', () => {
  const text = `dataDir: ./data
smtp:
  prot: 25
  maxMessageBytes: 35MiB
delivery:
  giveUpAfter: 5 days
spool: {url: "postgres://sluice:hunter2@db"}
http: {publicUrl: gw.acme.example}
shops:
  - name: acme
    shopId: not-a-uuid
    apikey: hunter2
    email: {addresses: ["Support <support@acme.example>"], dmarc: observed}
    sms: {numbers: ["(555) 000-1111"], twilio: {accountSid: AC1, authTokens: hunter2}}
    chat: {key: acme, origins: ["https://acme.example/shop"]}
`;
  const expected: [path: string, line: number, column: number, fix: RegExp][] = [
    ['smtp.prot', 3, 3, /^did you mean port\?$/],
    ['smtp.maxMessageBytes', 4, 20, /^write maxMessageBytes: 36700160$/],
    ['delivery.giveUpAfter', 6, 16, /^write giveUpAfter: 5d$/],
    ['spool.url', 7, 14, /^write url: postgres:\/\/sluice/],
    ['http.publicUrl', 8, 19, /^write publicUrl: https:\/\/gw\.acme\.example$/],
    ['shops[0].apiKey', 10, 5, /^write apiKey: /],
    ['shops[0].shopId', 11, 13, /^write shopId: [0-9a-f-]{36}, for instance$/],
    ['shops[0].apikey', 12, 5, /^did you mean apiKey\?$/],
    ['shops[0].email.addresses[0]', 13, 25, /^write - support@acme\.example$/],
    ['shops[0].email.dmarc', 13, 67, /^write dmarc: observe$/],
    ['shops[0].sms.numbers[0]', 14, 21, /^write - "\+15550001111"$/],
    ['shops[0].sms.twilio.accountSid', 14, 61, /^write accountSid: AC0{32}/],
    ['shops[0].sms.twilio.authTokens', 14, 78, /^write authTokens: \[/],
    ['shops[0].chat.origins[0]', 15, 33, /^write - https:\/\/acme\.example$/],
  ];

  test('are all reported at once, in the order of the file', () => {
    expect(mistakesOf(text).map(({ path }) => path)).toEqual(expected.map(([path]) => path));
  });

  test.each(expected)('%s with its line, column and what to write', (path, line, column, fix) => {
    const mistake = mistakesOf(text).find((each) => each.path === path);
    expect(mistake?.place).toMatchObject({ line, column });
    expect(mistake?.fix).toMatch(fix);
    expect(mistake?.expected).not.toBe('');
    expect(mistake?.found).not.toBe('');
  });

  test('are printed with file, line and column, and without any secret', () => {
    const report = renderMistakes(mistakesOf(text));
    expect(report).toContain('14 mistakes in the configuration');
    expect(report).toContain(`smtp.prot  (${join(dir.path, 'sluice.yaml')}:3:3)`);
    expect(report).toMatch(/spool\.url .*\n.*the name of a database.*\n.*postgres:\/\/ and more/);
    expect(report).not.toContain('hunter2');
  });
});

test.each([
  ['apiKey: the key of the shop', 'shops[0].apiKey'],
  ['apiKey: clé', 'shops[0].apiKey'],
  [
    'apiKey: k, email: {addresses: [a@b.example], inboundTokens: ["a token of four words"]}',
    'shops[0].email.inboundTokens[0]',
  ],
])('what no Authorization header can carry is refused: %s', (fields, path) => {
  const shop = `name: a, shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40, ${fields}`;
  const chat = 'chat: {key: a, allowNoOrigin: true}';
  expect(mistakesOf(`shops: [{${shop}, ${chat}}]`).map((mistake) => mistake.path)).toEqual([path]);
});

describe('the provider of texts', () => {
  const TWILIO = 'twilio: {accountSid: AC00000000000000000000000000000001, authTokens: [hunter2]}';
  const KEY = '4wXUag92mcUMFQopVlff7ctDm2SIoXvAlI15a0AAAAA=';
  const SECRETS = 'accessToken: hunter2, appSecrets: [hunter2], verifyToken: hunter2';
  const META = `whatsappCloud: {phoneNumberIds: ["106540352242922"], ${SECRETS}}`;
  const shopWith = (sms: string) => `shops:
  - name: acme
    shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40
    apiKey: hunter2
    sms: {numbers: [+15550001111], ${sms}}
`;

  test('may be Meta', () => {
    const { config } = valid(shopWith(META));
    expect(config.shops[0]?.sms?.whatsappCloud).toMatchObject({
      phoneNumberIds: ['106540352242922'],
      baseUrl: 'https://graph.facebook.com/v25.0',
    });
  });

  test.each([
    ['no token', 'phoneNumberIds: ["10654"]', 'accessToken', /./],
    [
      'an id that is a number',
      `phoneNumberIds: [+15550001111], ${SECRETS}`,
      'phoneNumberIds[0]',
      /./,
    ],
    [
      'an id too many',
      `phoneNumberIds: ["10654", "10655"], ${SECRETS}`,
      'phoneNumberIds',
      /^copy the phone number ID of each number/,
    ],
    [
      'a template without a language',
      `phoneNumberIds: ["10654"], ${SECRETS}, template: {name: reply_later}`,
      'template.language',
      /./,
    ],
    [
      'a language as browsers write it',
      `phoneNumberIds: ["10654"], ${SECRETS}, template: {name: reply_later, language: en-US}`,
      'template.language',
      /en_US/,
    ],
    [
      'a template with a title',
      `phoneNumberIds: ["10654"], ${SECRETS}, template: {name: Reply later, language: en}`,
      'template.name',
      /reply_later/,
    ],
  ])('at Meta with %s is a mistake', (_what, whatsapp, key, fix) => {
    const mistakes = mistakesOf(shopWith(`whatsappCloud: {${whatsapp}}`));
    expect(mistakes[0]).toMatchObject({ path: `shops[0].sms.whatsappCloud.${key}` });
    expect(mistakes[0]?.fix).toMatch(fix);
    expect(renderMistakes(mistakes)).not.toContain('hunter2');
  });

  test('at Meta has ids that no other shop has', () => {
    const [, first = ''] = shopWith(META).split('shops:\n');
    const second = first
      .replace('acme', 'beta')
      .replace('4f9d2c1e', '11111111')
      .replace('+15550001111', '+15550001112');
    expect(mistakesOf(`shops:\n${first}${second}`)).toMatchObject([
      { path: 'shops[1].sms.whatsappCloud.phoneNumberIds[0]' },
    ]);
  });

  test('has templates of its own', () => {
    const sms = `whatsappTemplate: HX00000000000000000000000000000001, ${META}`;
    expect(mistakesOf(shopWith(sms))).toMatchObject([
      {
        path: 'shops[0].sms.whatsappTemplate',
        fix: expect.stringContaining('template: {name: reply_later, language: en_US}') as unknown,
      },
    ]);
  });

  test('may be Telnyx', () => {
    const { config } = valid(shopWith(`telnyx: {apiKey: hunter2-key, publicKey: ${KEY}}`));
    const [shop] = config.shops;
    expect(shop?.sms?.telnyx?.apiKey.reveal()).toBe('hunter2-key');
    expect(shop?.sms).toMatchObject({
      optOut: 'provider',
      telnyx: { publicKey: KEY, baseUrl: 'https://api.telnyx.com' },
    });
  });

  test.each([
    ['none', 'optOut: none', 'shops[0].sms.twilio', 'none', /^add twilio: .* telnyx: .* whatsappC/],
    [
      'two',
      `${TWILIO}, telnyx: {apiKey: hunter2, publicKey: ${KEY}}`,
      'shops[0].sms.telnyx',
      'twilio and telnyx',
      /^keep one of them$/,
    ],
    [
      'Twilio and Meta',
      `${TWILIO}, ${META}`,
      'shops[0].sms.whatsappCloud',
      'twilio and whatsappCloud',
      /^keep one of them$/,
    ],
  ])('is exactly one: %s', (_what, sms, path, found, fix) => {
    const mistakes = mistakesOf(shopWith(sms));
    expect(mistakes).toMatchObject([{ path, found }]);
    expect(mistakes[0]?.fix).toMatch(fix);
  });

  test.each([
    ['no key', 'apiKey: hunter2', 'shops[0].sms.telnyx.publicKey'],
    [
      'a key that is no base64',
      'apiKey: hunter2, publicKey: "-----BEGIN"',
      'shops[0].sms.telnyx.publicKey',
    ],
    [
      'a key that is too short',
      'apiKey: hunter2, publicKey: AAAA',
      'shops[0].sms.telnyx.publicKey',
    ],
    [
      'an API key with a space',
      `apiKey: hunter 2, publicKey: ${KEY}`,
      'shops[0].sms.telnyx.apiKey',
    ],
    [
      'numbers in the wrong place',
      `apiKey: hunter2, publicKey: ${KEY}, numbers: [x]`,
      'shops[0].sms.telnyx.numbers',
    ],
  ])('with %s is a mistake', (_what, telnyx, path) => {
    const mistakes = mistakesOf(shopWith(`telnyx: {${telnyx}}`));
    expect(mistakes.map((mistake) => mistake.path)).toEqual([path]);
    expect(renderMistakes(mistakes)).not.toContain('hunter2');
  });

  test('keeps its former words for keywords and replies', () => {
    const { config } = valid(
      `localPlatform: {replies: {sms: twilio}}\n${shopWith(`${TWILIO}, optOut: twilio`)}`,
    );
    expect(config.shops[0]?.sms?.optOut).toBe('twilio');
    expect(config.localPlatform.replies.sms).toBe('twilio');
  });

  test('may be described by variables', () => {
    const loaded = loadConfig({
      env: {
        SLUICE_SHOP_NAME: 'acme',
        SLUICE_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
        SLUICE_SHOP_API_KEY: 'hunter2',
        SLUICE_SHOP_SMS_NUMBERS: '+12025550142',
        SLUICE_SHOP_SMS_TELNYX_API_KEY: 'hunter2-key',
        SLUICE_SHOP_SMS_TELNYX_PUBLIC_KEY: KEY,
      },
    });
    expect(loaded).toMatchObject({ ok: true });
  });
});

describe('a mistake that only two places together make', () => {
  const two = (second: string) => `${ACME}  - name: beta
    shopId: 11111111-8a57-4b06-9d3e-2f1c7a6b5d40
    apiKey: other
${second}`;

  test.each([
    ['address, without regard to case and tag', 'email: {addresses: [SUPPORT+x@acme.example]}'],
    ['catch-all', 'email: {addresses: ["*@help.ACME.example"]}'],
    [
      'number',
      'sms: {numbers: [+15550001111], twilio: {accountSid: AC00000000000000000000000000000001, authTokens: [x]}}',
    ],
    ['chat key', 'chat: {key: acme, allowNoOrigin: true}'],
  ])('an equal %s in two shops', (_what, second) => {
    const mistakes = mistakesOf(two(`    ${second}\n`));
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.path).toMatch(/^shops\[1\]/);
    expect(mistakes[0]?.found).toMatch(/^the same as shops\[0\]\..*sluice\.yaml:\d+:\d+\)$/);
  });

  test('equal names and shop ids', () => {
    const mistakes = mistakesOf(`${ACME}  - name: acme
    shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40
    apiKey: other
    email: {addresses: [b@b.example]}
`);
    expect(mistakes.map(({ path }) => path)).toEqual(['shops[1].name', 'shops[1].shopId']);
  });

  test.each([
    ['smtp: {tls: {cert: /dev/null}}', 'smtp.tls.key'],
    ['smtp: {tls: {cert: /nowhere.pem, key: /dev/null}}', 'smtp.tls.cert'],
    ['localPlatform: {replies: {relayCa: /nowhere.pem}}', 'localPlatform.replies.relayCa'],
    [
      'localPlatform: {replies: {relay: "smtps://mx.example", relayTls: off}}',
      'localPlatform.replies.relayTls',
    ],
    ['spool: {url: sqlite, blobs: "s3://mail"}', 'spool.blobs'],
    ['spool: {url: "postgres://db/sluice", blobs: "s3://UPPER"}', 'spool.blobs'],
    ['admin: {port: 8080}', 'admin.port'],
    ['platform: {url: "https://api.example"}', 'shops'],
    ['shops: [{name: a, shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40, apiKey: k}]', 'shops[0]'],
    [
      'shops: [{name: a, shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40, apiKey: k, chat: {key: a}}]',
      'shops[0].chat.origins',
    ],
  ])('%s', (text, path) => {
    expect(mistakesOf(text).map((mistake) => mistake.path)).toEqual([path]);
  });
});

test.each([
  'spool: {url: "postgres://db/sluice", blobs: "s3://mail?endpoint=http%3A%2F%2F127.0.0.1%3A9000"}',
  'spool: {url: "postgres://db/sluice", blobs: "s3://mail?region=eu-1&endpoint=http://minio:9000"}',
  'spool: {url: "postgres://u:p@one:5432,two/sluice.db?sslrootcert=/etc/ca.db"}',
  'localPlatform: {replies: {relay: "smtp://user:pass%3A465@mail.example:587"}}',
  'admin: {password: "yours/keys/are/here"}',
])('no cure refuses a valid value: %s', (text) => {
  expect(valid(text)).toBeDefined();
});

describe('what comes from the environment', () => {
  test('goes in after YAML is parsed: no secret can break the document', () => {
    const password = `a: "b" # 'c' \${D} {e: [f]}`;
    const { config } = valid('admin: {password: "${P}"}\nsmtp:\n  port: ${PORT:-26}\n', {
      P: password,
    });
    expect(config.admin.password?.reveal()).toBe(password);
    expect(config.smtp.port).toBe(26);
  });

  test('an empty variable counts as not given', () => {
    const { config } = valid('admin: {password: "${P:-}"}\nsmtp: {tls: {cert: "${C:-}"}}\n');
    expect(config.admin).not.toHaveProperty('password');
  });

  test('an unset variable is a mistake, once', () => {
    const mistakes = mistakesOf(ACME.replace('hunter2-api-key', '${PLATFORM_API_KEY}'));
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatchObject({
      path: 'shops[0].apiKey',
      expected: 'the environment variable PLATFORM_API_KEY',
      found: 'not set',
    });
  });

  test('a value from it is shown as it is written, never as it is', () => {
    const report = renderMistakes(mistakesOf('smtp:\n  port: ${PORT}\n', { PORT: 'hunter2' }));
    expect(report).toContain('found:    "${PORT}"');
    expect(report).not.toContain('hunter2');
  });
});

describe('a secret from a variable', () => {
  const SHORT = 'a text of length 7 (not shown), from the variable';
  test.each([
    ['admin: {password: "${P}"}', { P: 'hunter2' }, `${SHORT} P`, 'correct the value of P'],
    ['admin: {metricsToken: "x${P}${Q}"}', { P: 'hunter', Q: '' }, `${SHORT} P and Q`, /P and Q$/],
    [
      ACME.replace('hunter2-api-key', '"${P}"'),
      { P: '' },
      'the variable P, which is empty',
      'set P',
    ],
    [ACME.replace('hunter2-token', '"${P}"'), { P: '' }, 'the variable P, which is empty', 'set P'],
    [
      ACME.replace('hunter2-token', '"${P}"'),
      { P: '\n' },
      'an empty text, from the variable P',
      'correct the value of P',
    ],
    [
      ACME.replace('hunter2-api-key', '"${P}"'),
      { P: 'hunter2 and spaces' },
      'another text (not shown), from the variable P',
      'correct the value of P',
    ],
  ])('%j with %j: %s', (text, env, found, fix) => {
    const mistakes = mistakesOf(text, env);
    expect(mistakes).toMatchObject([{ found, fix: expect.stringMatching(fix), place: {} }]);
    expect(renderMistakes(mistakes)).not.toContain('hunter');
  });
});

test('a short secret in the file: its length is told', () => {
  expect(mistakesOf('admin: {password: hunter2}')).toMatchObject([
    { found: 'a text of length 7 (not shown)' },
  ]);
});

test('a variable that is empty is not blamed for what another layer has', () => {
  const env = { P: '', SLUICE_HTTP_PORT: 'eighty' };
  expect(mistakesOf('http: {port: "${P}"}', env)).toMatchObject([{ found: '"eighty"' }]);
});

test('a secret is never printed, however the configuration is shown', () => {
  const { config } = valid(`admin: {password: hunter2-password}\n${ACME}`);
  const shown = [inspect(config, { depth: 20, showHidden: true }), JSON.stringify(config)];
  shown.push(String(config.admin.password), inspect(config.shops[0]?.apiKey));
  expect(shown.join('\n')).not.toContain('hunter2');
  expect(shown.join('\n')).toContain('[secret]');
  expect(config.shops[0]?.apiKey.reveal()).toBe('hunter2-api-key');
});

test('a URL with a password in it is not shown', () => {
  const report = renderMistakes(mistakesOf('platform: {url: "https://me:hunter2@api.example"}'));
  expect(report).not.toContain('hunter2');
});

describe('a document that is no YAML', () => {
  test.each([
    ['smtp: {port: 1', /bracket|YAML/],
    ['admin:\n\tpassword: hunter2', /tab/],
    ['admin:\n  password: *hunter2', /alias/],
    ['admin:\n  password: @hunter2', /quotes/],
    ['admin:\n  password: hunter2: x', /quote/],
    ['- hunter2\nadmin: 1', /YAML/],
    ['shops:\n  - name: acme\n   platform: local', /indentation/],
    ['a: 1\n---\nb: 2', /second document/],
    ['smtp: {port: ${PORT}}', /quotes around \$\{NAME\}/],
  ])('%j is one mistake with its place, which quotes nothing', (text, said) => {
    const mistakes = mistakesOf(text);
    expect(mistakes).toHaveLength(1);
    expect(`${mistakes[0]?.expected}; ${mistakes[0]?.found}`).toMatch(said);
    expect(mistakes[0]?.place?.line).toBeGreaterThan(0);
    expect(renderMistakes(mistakes)).not.toContain('hunter2');
  });

  test('a key that stands twice is reported together with the rest', () => {
    const mistakes = mistakesOf('smtp:\n  port: 1\n  port: 2\n  hots: a\n');
    expect(mistakes.map(({ place }) => place?.line)).toEqual([3, 4]);
  });

  test.each(['just text', '[1, 2]'])('%j is not a mapping', (text) => {
    expect(mistakesOf(text)[0]?.expected).toMatch(/^a mapping with the keys dataDir, /);
  });

  test('aliases that multiply are stopped', () => {
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 9; n += 1) {
      bomb.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(', ')}]`,
      );
    }
    const mistakes = mistakesOf(bomb.join('\n'));
    expect(mistakes[0]?.expected).toMatch(/at most 100000 values/);
  });

  test('a file that is not there', () => {
    const loaded = loadConfig({ file: join(dir.path, 'none.yaml'), env: {} });
    expect(loaded).toMatchObject({ ok: false, mistakes: [{ found: 'no such file (ENOENT)' }] });
  });
});

test('what is allowed and probably not meant is a warning', () => {
  const { warnings } = valid(
    `admin: {host: 0.0.0.0}\nsmtp: {enabled: false}\nplatform: {url: "http://api.example"}\n${ACME}`,
  );
  expect(warnings).toHaveLength(5);
  expect(warnings.join('\n')).not.toContain('hunter2');
});

const FROM_ITSELF = 'http.publicUrl is this machine: visitors of the sites in chat.origins';
const OVER_HTTP = 'http.publicUrl is http: browsers refuse to load the chat';
const NAMELESS = 'smtp.hostname is localhost: set it to the name in the MX record';

test.each([
  ['', '', [FROM_ITSELF]],
  ['http: {publicUrl: "http://gw.acme.example"}', '', [OVER_HTTP]],
  ['http: {publicUrl: "https://gw.acme.example"}', '', []],
  [
    'http: {publicUrl: "https://gw.acme.example"}',
    'platformUrl: "https://api.example"',
    [NAMELESS],
  ],
  [
    'http: {publicUrl: "https://gw.acme.example"}\nsmtp: {hostname: mx.acme.example}',
    'platformUrl: "https://api.example"',
    [],
  ],
])('names by which nothing gets here from outside: %j %j', (settings, ofShop, expected) => {
  const { warnings } = valid(`${settings}${ACME}    agent: off\n    ${ofShop}\n`);
  const named = warnings.filter((text) => /chat\.origins|chat from|smtp\.hostname/.test(text));
  expect(named).toEqual(expected.map((text) => expect.stringContaining(text)));
});

test.each([
  ['', 'http://127.0.0.1:8080', 'smtp://127.0.0.1', 1],
  ['', 'https://gw.acme.example', 'smtp://127.0.0.1', 0],
  ['', 'http://127.0.0.1:8080', undefined, 0],
  ['platformUrl: https://api.example', 'http://127.0.0.1:8080', 'smtp://127.0.0.1', 0],
])(
  'links in emails to chat visitors: %s %s %s has %d warnings',
  (more, publicUrl, relay, count) => {
    const replies = relay === undefined ? '{}' : `{relay: "${relay}"}`;
    const { warnings } = valid(`
http: {publicUrl: "${publicUrl}"}
localPlatform: {replies: ${replies}}
shops:
  - name: acme
    shopId: 4F9D2C1E-8A57-4B06-9D3E-2F1C7A6B5D40
    apiKey: hunter2-api-key
    agent: off
    chat: {key: acme, origins: ["https://acme.example"]}
    ${more}
`);
    expect(warnings.filter((text) => text.includes('the links in emails'))).toHaveLength(count);
  },
);

describe('the relay', () => {
  const relayed = (relay: string, more = '') =>
    `localPlatform: {replies: {relay: "${relay}"${more}}}`;

  test('is taken with its password, which is not shown', () => {
    const { config, warnings } = valid(relayed('${R}'), { R: 'smtp://me:hunter2@mx.example:587' });
    expect(config.localPlatform.replies).toMatchObject({ relayTls: 'auto', sms: 'log' });
    expect(config.localPlatform.replies.relay?.reveal()).toBe('smtp://me:hunter2@mx.example:587');
    expect(JSON.stringify(config)).not.toContain('hunter2');
    expect(warnings).toEqual([]);
  });

  test('is none when its variable is empty', () => {
    const { config } = valid(relayed('${R:-}'));
    expect(config.localPlatform.replies).not.toHaveProperty('relay');
  });

  test('that is wrong is reported with what is expected, and nothing of it is shown', () => {
    const mistakes = mistakesOf(relayed('http://me:hunter2@mx.example'));
    expect(mistakes).toMatchObject([
      {
        path: 'localPlatform.replies.relay',
        expected: expect.stringMatching(/^smtp:\/\/ or smtps:\/\//),
        found: expect.stringMatching(/^http:/),
      },
    ]);
    expect(renderMistakes(mistakes)).not.toContain('hunter2');
  });

  test.each([
    ['relayTls: always', 'localPlatform.replies.relayTls'],
    ['sms: twillio', 'localPlatform.replies.sms'],
    ['relayTsl: auto', 'localPlatform.replies.relayTsl'],
  ])('%s is a mistake', (text, path) => {
    const [mistake, ...others] = mistakesOf(`localPlatform: {replies: {${text}}}`);
    expect(mistake?.path).toBe(path);
    expect(mistake?.fix).toMatch(/relayTls|twilio|auto/);
    expect(others).toEqual([]);
  });

  test.each([
    ['smtp://me:hunter2@mx.example', ', relayTls: off', 1],
    ['smtp://me:hunter2@mx.example', ', relayTls: required', 0],
    ['smtp://mx.example', ', relayTls: off', 0],
    ['smtp://me:hunter2@127.0.0.1:25', ', relayTls: off', 0],
  ])('%s%s has %d warnings', (url, more, count) => {
    const { warnings } = valid(relayed(url, more));
    expect(warnings).toHaveLength(count);
    expect(warnings.join()).not.toContain('hunter2');
  });
});

test('a bare number for how long messages are kept is days, also in a variable', () => {
  const fixes = (text: string, env?: Record<string, string>) =>
    mistakesOf(text, env).map(({ fix }) => fix);
  expect(fixes('spool: {retain: {raw: 7, entries: 90}}')).toEqual([
    'write raw: 7d',
    'write entries: 90d',
  ]);
  expect(fixes('', { SLUICE_SPOOL_RETAIN_DEAD: '30' })).toEqual(['write 30d']);
});

test('messages that are kept for less than an hour are a warning with the default', () => {
  const { warnings } = valid('spool: {retain: {raw: 7s, dead: 59m, entries: 60m}}');
  expect(warnings).toEqual([
    'spool.retain.raw is 7s, less than an hour; the default is 7d',
    'spool.retain.dead is 59m, less than an hour; the default is 30d',
  ]);
});
