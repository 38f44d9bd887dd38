import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.ts';
import { shopSchema } from '../../src/config/shop-schema.ts';
import { descriptions } from '../../src/config/field.ts';
import { keysOf, schemaAt } from '../../src/config/schema-paths.ts';
import { loadConfig } from '../../src/config/load.ts';

const path = (name: string) => fileURLToPath(new URL(`../../config/${name}`, import.meta.url));
const written = readFileSync(path('default.yaml'), 'utf8');

/** As it reads when everything in it is in force. */
const complete = uncommented(written);

function uncommented(text: string): string {
  const [top = '', shop = ''] = text.split(/^shops: \[\]\n(?:# .*\n)*/m);
  const inForce = top.replace(/^( *)#(?! )/gm, '$1');
  return `${inForce}shops:\n${shop.replace(/^#/gm, '')}`;
}

function keys(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    return typeof first === 'object' ? keys(first, `${prefix}[]`) : [prefix];
  }
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([key, each]) =>
    keys(each, prefix === '' ? key : `${prefix}.${key}`),
  );
}

describe('config/default.yaml', () => {
  test('has a line for every key of the schema, and no other', () => {
    expect(keys(parse(complete)).sort()).toEqual(keysOf(configSchema).sort());
  });

  test("shows a shop's real defaults", () => {
    // The schema fills in what is left out, from text like that in the file.
    const shown = z
      .object({ shops: z.tuple([z.unknown()]) })
      .parse(parse(complete, { schema: 'failsafe' }));
    const sample = shopSchema.parse(shown.shops[0]);
    const bare = shopSchema.parse({
      name: sample.name,
      shopId: sample.shopId,
      apiKey: sample.apiKey.reveal(),
      email: { addresses: sample.email?.addresses },
      sms: {
        numbers: sample.sms?.numbers,
        whatsappTemplate: sample.sms?.whatsappTemplate,
        twilio: {
          accountSid: sample.sms?.twilio?.accountSid,
          authTokens: ['x'],
          sharedKeys: [{ sid: sample.sms?.twilio?.sharedKeys[0]?.sid, secret: 'x' }],
          apiKeySid: sample.sms?.twilio?.apiKeySid,
          apiKeySecret: 'x',
        },
        // A shop has one of them; the file shows both.
        telnyx: { apiKey: 'x', publicKey: sample.sms?.telnyx?.publicKey },
        whatsappCloud: {
          phoneNumberIds: sample.sms?.whatsappCloud?.phoneNumberIds,
          accessToken: 'x',
          appSecrets: ['x'],
          verifyToken: 'x',
          template: sample.sms?.whatsappCloud?.template,
        },
      },
      chat: {
        key: sample.chat?.key,
        origins: sample.chat?.origins,
        widget: {
          name: sample.chat?.widget.name,
          greeting: sample.chat?.widget.greeting,
          color: sample.chat?.widget.color,
          offsetX: String(sample.chat?.widget.offsetX),
          offsetY: String(sample.chat?.widget.offsetY),
          zIndex: String(sample.chat?.widget.zIndex),
          logo: sample.chat?.widget.logo,
          privacy: sample.chat?.widget.privacy,
          starters: sample.chat?.widget.starters,
          agent: { ...sample.chat?.widget.agent, kind: undefined },
          people: sample.chat?.widget.people,
          hours: sample.chat?.widget.hours,
          languages: sample.chat?.widget.languages,
        },
      },
    });
    const { platformUrl: _none, ...rest } = sample;
    expect(JSON.parse(JSON.stringify(rest))).toEqual(JSON.parse(JSON.stringify(bare)));
  });
});

test('a duration without a unit: the one of its default is proposed', () => {
  const shown: unknown = parse(complete, { schema: 'failsafe' });
  const durations = keysOf(configSchema).flatMap((key) => {
    const path = key.replaceAll('[]', '.0').split('.');
    const value = path.reduce<unknown>(
      (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
      shown,
    );
    const isDuration = typeof value === 'string' && /^\d+(?:ms|[smhd])$/.test(value);
    return isDuration ? [{ path, value }] : [];
  });
  expect(durations.length).toBeGreaterThan(15);
  const proposed = durations.map(({ path, value }) => {
    const schema = schemaAt(
      configSchema,
      path.map((step) => (step === '0' ? 0 : step)),
    );
    return { path, value: schema && descriptions.get(schema)?.hint?.(String(parseInt(value, 10))) };
  });
  expect(proposed).toEqual(durations);
});

test('config/example.yaml is valid', () => {
  const loaded = loadConfig({
    file: path('example.yaml'),
    env: {
      SLUICE_ADMIN_PASSWORD: 'a-long-password',
      PLATFORM_URL: 'https://api.platform.example',
      PLATFORM_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
      PLATFORM_API_KEY: 'key',
      TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000001',
      TWILIO_AUTH_TOKEN: 'token',
      CHAT_IDENTITY_SECRET: 'a secret that only two servers know',
    },
  });
  expect(loaded).toMatchObject({
    ok: true,
    warnings: [],
  });
});
