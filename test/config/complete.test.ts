import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  completeConfig,
  completeFromExisting,
  stopDelayMs,
  type CompleteConfig,
} from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { UninitializedDataFolder } from '../../src/config/uninitialized-data-folder.ts';
import { UnusableKeys } from '../../src/config/secret-file.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => void (dir = tempDir()));
afterEach(() => dir.remove());

const dataDir = () => join(dir.path, 'data');

function config(text = '') {
  const file = join(dir.path, 'sluice.yaml');
  writeFileSync(file, `dataDir: ${dataDir()}\n${text}`);
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error('the configuration is not valid');
  return loaded.config;
}

const SHOP = `shops:
  - name: acme
    shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40
    apiKey: key
    email: {addresses: [support@acme.example]}
`;

const revealed = (complete: CompleteConfig) => ({
  shop: complete.shops[0]?.shopId,
  apiKey: complete.shops[0]?.apiKey.reveal(),
  token: complete.shops[0]?.sms?.twilio?.authTokens[0]?.reveal(),
  password: complete.admin.password.reveal(),
  chat: complete.chatTokenKeys.map(({ id, secret }) => [id, secret.reveal()]),
});

test('with no shop there is a demo shop whose keys are made once and kept private', async () => {
  const first = await completeConfig(config());
  expect(first.demo).toBe(true);
  expect(first.shops).toHaveLength(1);
  expect(first.shops[0]).toMatchObject({
    name: 'demo',
    email: { addresses: ['support@demo.example', '*@demo.example'] },
    chat: {
      key: 'demo',
      allowNoOrigin: true,
      origins: ['http://localhost:8080', 'http://127.0.0.1:8080'],
    },
  });
  for (const name of ['demo.json', 'keys.json']) {
    expect(statSync(join(dataDir(), name)).mode & 0o777).toBe(0o600);
  }
  expect(readdirSync(dataDir()).sort()).toEqual(['demo.json', 'keys.json']);
  expect(revealed(await completeConfig(config()))).toEqual(revealed(first));
  expect(revealed(await completeFromExisting(config()))).toEqual(revealed(first));
});

test('two that start at once agree on the keys', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => completeConfig(config())));
  const [first, ...others] = all.map(revealed);
  for (const other of others) expect(other).toEqual(first);
  expect(readdirSync(dataDir()).sort()).toEqual(['demo.json', 'keys.json']);
});

test('with a shop configured only the long-lived keys are made; a given password wins', async () => {
  const complete = await completeConfig(config(`admin: {password: my-own-password}\n${SHOP}`));
  expect(complete.demo).toBe(false);
  expect(complete.shops.map(({ name }) => name)).toEqual(['acme']);
  expect(complete.admin.password.reveal()).toBe('my-own-password');
  expect(complete.chatTokenKeys).toHaveLength(1);
  expect(readdirSync(dataDir())).toEqual(['keys.json']);
});

test('a new key of the chat is put before the old one in the file', async () => {
  await completeConfig(config());
  const file = join(dataDir(), 'keys.json');
  // Written by `completeConfig` a moment ago.
  const kept = JSON.parse(readFileSync(file, 'utf8')) as { chatTokenKeys: object[] };
  const next = { id: '2027', secret: 'n'.repeat(32) };
  const write = (chatTokenKeys: object[]) =>
    writeFileSync(file, JSON.stringify({ ...kept, chatTokenKeys }));
  write([next, ...kept.chatTokenKeys]);
  const complete = await completeConfig(config());
  expect(complete.chatTokenKeys.map(({ id }) => id)).toEqual(['2027', expect.any(String)]);
  for (const wrong of [
    [next, { ...next, secret: 'm'.repeat(32) }],
    [{ ...next, id: 'with a space' }],
    [{ ...next, secret: 'short' }],
    [],
  ]) {
    write(wrong);
    await expect(completeConfig(config())).rejects.toThrow(UnusableKeys);
  }
});

test('keys that others could read are made private again', async () => {
  await completeConfig(config());
  chmodSync(join(dataDir(), 'demo.json'), 0o644);
  await completeConfig(config());
  expect(statSync(join(dataDir(), 'demo.json')).mode & 0o777).toBe(0o600);
});

test.each(['', '{"shopId": 1}', 'not json hunter2'])(
  'a damaged file %j is refused, never replaced, and not quoted',
  async (text) => {
    await completeConfig(config());
    const file = join(dataDir(), 'demo.json');
    writeFileSync(file, text);
    const failure = await completeConfig(config()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnusableKeys);
    expect(String(failure)).not.toContain('hunter2');
    expect(readFileSync(file, 'utf8')).toBe(text);
  },
);

test('a command beside a gateway makes nothing', async () => {
  await expect(completeFromExisting(config())).rejects.toBeInstanceOf(UninitializedDataFolder);
  await expect(completeFromExisting(config(SHOP))).rejects.toBeInstanceOf(UninitializedDataFolder);
  expect(readdirSync(dir.path)).toEqual(['sluice.yaml']);
});

test('only gateways with a shared store keep their ports open at a stop, unless told otherwise', () => {
  expect(stopDelayMs(config())).toBe(0);
  expect(stopDelayMs(config('spool: {url: postgres://db/sluice}'))).toBe(10_000);
  expect(stopDelayMs(config('stopDelay: 3s'))).toBe(3_000);
  expect(stopDelayMs(config('stopDelay: 0s\nspool: {url: postgres://db/sluice}'))).toBe(0);
});
