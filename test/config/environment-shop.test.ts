import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

function write(text: string, name = 'sluice.yaml'): string {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, name);
  writeFileSync(file, text);
  return file;
}

const SHOP = {
  SLUICE_SHOP_NAME: 'acme',
  SLUICE_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
  SLUICE_SHOP_API_KEY: 'hunter2-of-the-platform',
};
const EMAIL = { SLUICE_SHOP_EMAIL_ADDRESSES: 'support@acme.example, *@help.acme.example' };
const SMS = {
  SLUICE_SHOP_SMS_NUMBERS: '+12025550142',
  SLUICE_SHOP_SMS_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
};
const CHAT = { SLUICE_SHOP_CHAT_KEY: 'acme', SLUICE_SHOP_CHAT_ORIGINS: 'https://acme.example' };

type Env = Readonly<Record<string, string>>;

/** What the report says about a configuration with mistakes. */
function mistakes(env: Env, text?: string): string {
  const loaded = loadConfig({ env, ...(text !== undefined && { file: write(text) }) });
  if (loaded.ok) throw new Error('the configuration was accepted');
  const report = renderMistakes(loaded.mistakes);
  expect(report).not.toContain('hunter2');
  return report;
}

test('a shop with email, SMS and chat, and the gateway around it, without a file', () => {
  const loaded = loadConfig({
    env: {
      ...{ ...SHOP, ...EMAIL, ...SMS, ...CHAT },
      SLUICE_SHOP_SMS_AUTH_TOKENS_FILE: write('token-one\ntoken-two\n', 'tokens'),
      SLUICE_SHOP_CHAT_LIMITS_MESSAGES_PER10S: '20',
      SLUICE_SHOP_EMAIL_LOOP_PER_HOUR: '7',
      SLUICE_SHOP_CHAT_WIDGET_GREETING: 'Hello, how can we help?',
      SLUICE_HTTP_PUBLIC_URL: 'https://gw.acme.example',
      SLUICE_PLATFORM_URL: 'https://api.platform.example',
      SLUICE_SMTP_HOSTNAME: 'mx.acme.example',
      SLUICE_DELIVERY_GIVE_UP_AFTER: '2d',
    },
  });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  const { config, warnings, variables } = loaded;
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({
    http: { publicUrl: 'https://gw.acme.example' },
    delivery: { giveUpAfter: 172_800_000 },
    shops: [
      {
        ...{ name: 'acme', shopId: SHOP.SLUICE_SHOP_ID, agent: 'on' },
        email: {
          addresses: ['support@acme.example', '*@help.acme.example'],
          ...{ dmarc: 'hold', loop: { perHour: 7, per10min: 10 } },
        },
        sms: { numbers: ['+12025550142'], twilio: { accountSid: SMS.SLUICE_SHOP_SMS_ACCOUNT_SID } },
        chat: {
          ...{ key: 'acme', origins: ['https://acme.example'], limits: { messagesPer10s: 20 } },
          widget: { greeting: 'Hello, how can we help?' },
        },
      },
    ],
  });
  const [shop] = config.shops;
  expect(shop?.apiKey.reveal()).toBe('hunter2-of-the-platform');
  expect(shop?.sms?.twilio?.authTokens.map((token) => token.reveal())).toEqual([
    ...['token-one', 'token-two'],
  ]);
  expect(variables.get('shops[0].name')).toBe('SLUICE_SHOP_NAME');
  expect(variables.get('shops[0].sms.twilio.authTokens')).toBe('SLUICE_SHOP_SMS_AUTH_TOKENS_FILE');
  expect(variables.has('smtp.port')).toBe(false);
});

test('what is missing is named by its variable', () => {
  const report = mistakes({ SLUICE_SHOP_NAME: 'acme', ...SMS });
  expect(report).toContain(
    'shops[0].shopId  (the environment, SLUICE_SHOP_ID)\n' +
      "  expected: the shop's id on the platform, a UUID\n" +
      '  found:    nothing\n' +
      '  fix:      set SLUICE_SHOP_ID to 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40, for instance\n',
  );
  expect(report).toContain('  fix:      set SLUICE_SHOP_API_KEY\n');
  expect(report).toContain('  fix:      set SLUICE_SHOP_SMS_AUTH_TOKENS\n');
  expect(mistakes(SHOP)).toContain(
    'fix:      set SLUICE_SHOP_EMAIL_ADDRESSES, SLUICE_SHOP_SMS_NUMBERS or SLUICE_SHOP_CHAT_KEY\n',
  );
  expect(mistakes({ ...SHOP, SLUICE_SHOP_CHAT_KEY: 'acme' })).toContain(
    'fix:      set SLUICE_SHOP_CHAT_ORIGINS to https://acme.example, for instance\n',
  );
  const half = { SLUICE_SHOP_SMS_AUTH_TOKENS: 'x', SLUICE_SHOP_SMS_API_KEY_SECRET: 'hunter2' };
  expect(mistakes({ ...SHOP, ...SMS, ...half })).toContain(
    `fix:      set SLUICE_SHOP_SMS_API_KEY_SID to SK${'0'.repeat(32)}, for instance\n`,
  );
});

test.each<[Env, string, string]>([
  [
    { SLUICE_HTTP_PORT: 'eighty' },
    'http.port  (the environment, SLUICE_HTTP_PORT)',
    'write 8080, ',
  ],
  [{ SLUICE_SMTP_LMTP: 'yes' }, 'smtp.lmtp  (the environment, SLUICE_SMTP_LMTP)', 'write true\n'],
  [{ SLUICE_DELIVERY_GIVE_UP_AFTER: '3 days' }, 'SLUICE_DELIVERY_GIVE_UP_AFTER)', 'write 3d\n'],
  [{ SLUICE_SMTP_MAX_MESSAGE_BYTES: '10MB' }, 'MAX_MESSAGE_BYTES)', 'write 10000000\n'],
  [
    { SLUICE_SMTP_TRUSTED_RELAYS: '10.0.0.1,ten' },
    'smtp.trustedRelays[1]  (the environment, SLUICE_SMTP_TRUSTED_RELAYS)',
    'write 10.0.0.0/8, ',
  ],
  [
    { ...SHOP, ...SMS, SLUICE_SHOP_SMS_AUTH_TOKENS: 'x', SLUICE_SHOP_SMS_NUMBERS: '202 555-0142' },
    'shops[0].sms.numbers[0]  (the environment, SLUICE_SHOP_SMS_NUMBERS)',
    'write +12025550142\n',
  ],
  [
    { ...SHOP, SLUICE_SHOP_EMAIL_ADDRESSES: ' , ' },
    'shops[0].email.addresses  (the environment, SLUICE_SHOP_EMAIL_ADDRESSES)',
    'write support@acme.example, for instance',
  ],
])('%j is a mistake of its variable, with what to write instead', (env, where, fix) => {
  const report = mistakes(env);
  expect(report).toContain(where);
  expect(report).toContain(`  fix:      ${fix}`);
});

test('a secret is never shown, and no YAML is proposed for it', () => {
  const report = mistakes({ SLUICE_ADMIN_PASSWORD: 'hunter2' });
  expect(report).toContain('SLUICE_ADMIN_PASSWORD)');
  expect(report).toContain('a text of length 7 (not shown), from the variable SLUICE_ADMIN_PASS');
  expect(report).toContain('fix:      correct the value of SLUICE_ADMIN_PASSWORD\n');
  expect(report).not.toContain('${');
  const tokens = { SLUICE_SHOP_EMAIL_INBOUND_TOKENS: 'hunter2,hunter2-hunter2-hunter2' };
  expect(mistakes({ ...SHOP, ...EMAIL, ...tokens })).toContain('shops[0].email.inboundTokens[0]');
});

test('a variable, or its file, that is empty is said to be so', () => {
  const report = mistakes({ ...SHOP, ...EMAIL, SLUICE_SHOP_API_KEY: '' });
  expect(report).toContain('found:    the variable SLUICE_SHOP_API_KEY, which is empty\n');
  const { SLUICE_SHOP_API_KEY: _none, ...others } = SHOP;
  const file = write('', 'empty');
  const ofFile = mistakes({ ...others, ...EMAIL, SLUICE_SHOP_API_KEY_FILE: file });
  expect(ofFile).toContain('(the environment, SLUICE_SHOP_API_KEY_FILE)');
  expect(ofFile).toContain(`found:    ${file}, which is empty\n`);
});

test('shops in the file and in variables are a mistake that says which to remove', () => {
  const file = 'shops:\n  - {name: other, chat: {key: k, allowNoOrigin: true}}\n';
  const report = mistakes({ ...SHOP, ...CHAT }, file);
  expect(report).toMatch(/^shops {2}\(.*sluice\.yaml:2:3\)$/m);
  expect(report).toContain('expected: shops in the file, or one shop in SLUICE_SHOP_ variables');
  expect(report).toContain(
    'found:    also SLUICE_SHOP_NAME, SLUICE_SHOP_ID, SLUICE_SHOP_API_KEY, SLUICE_SHOP_CHAT_KEY, ',
  );
  expect(report).toContain('fix:      remove shops from the file, or unset these variables');
  // Shops are not merged, so nothing else is said about them.
  expect(mistakes(SHOP, 'shops: []')).toContain('found:    also SLUICE_SHOP_NAME');
});

test('a variable that the file takes for its shop is no shop of its own', () => {
  const shop = `{name: acme, shopId: ${SHOP.SLUICE_SHOP_ID}, apiKey: "\${SLUICE_SHOP_API_KEY}"`;
  const file = write(`shops:\n  - ${shop}, chat: {key: k, allowNoOrigin: true}}\n`);
  const key = { SLUICE_SHOP_API_KEY_FILE: write('hunter2-of-the-file\n', 'key') };
  const loaded = loadConfig({ env: key, file });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  expect(loaded.config.shops[0]?.apiKey.reveal()).toBe('hunter2-of-the-file');
  expect(loaded.warnings).toEqual([expect.stringMatching(/^localPlatform.agent.knowledge/)]);
});

test('the other keys may be in a file', () => {
  const file = write('smtp: {port: 25}\nshops:\n');
  const loaded = loadConfig({ env: { ...SHOP, ...CHAT, SLUICE_HTTP_PORT: '80' }, file });
  expect(loaded).toMatchObject({
    ok: true,
    config: { smtp: { port: 25 }, http: { port: 80 }, shops: [{ name: 'acme' }] },
  });
});
