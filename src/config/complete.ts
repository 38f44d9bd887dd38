import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config, ShopConfig } from './config.ts';
import { UninitializedDataFolder } from './uninitialized-data-folder.ts';
import { Secret } from './secret.ts';
import { readOrMakeSecretFile, readSecretFile } from './secret-file.ts';
import { shopSchema } from './shop-schema.ts';

/**
 * A key that signs the visitors' session tokens. The first key signs, and all keys verify. To
 * replace a key, put a new one before it in `dataDir/keys.json` and remove the old one a year
 * later, when all of its tokens have expired. Removing it at once turns every anonymous visitor
 * into a new one.
 */
interface ChatTokenKey {
  readonly id: string;
  readonly secret: Secret;
}

/** The configuration with the generated keys added: the one that a gateway runs with. */
export interface CompleteConfig extends Config {
  readonly admin: Config['admin'] & { readonly password: Secret };
  readonly chatTokenKeys: readonly ChatTokenKey[];
  /** True when no shop is configured; `shops` then holds the demo shop. */
  readonly demo: boolean;
}

/** `sqlite`, or the URL of a PostgreSQL database with its password. */
export const storeUrl = ({ spool: { url } }: Pick<Config, 'spool'>): string =>
  url === 'sqlite' ? url : url.reveal();

/** New messages are refused when less disk space than this is free: one is received, another stored. */
export const reserveBytesOf = ({ smtp }: Pick<Config, 'smtp'>): number =>
  1.5 * smtp.maxMessageBytes;

/** Of gateways that share a store: another one can take what comes meanwhile. */
const FLEET_STOP_DELAY_MS = 10_000;

/** How long the ports stay open when a stop has begun. */
export const stopDelayMs = ({ stopDelay, spool }: Pick<Config, 'stopDelay' | 'spool'>): number =>
  stopDelay ?? (spool.url === 'sqlite' ? 0 : FLEET_STOP_DELAY_MS);

const keysSchema = z.strictObject({
  adminPassword: z.string().min(8),
  chatTokenKeys: z
    .array(z.strictObject({ id: z.string().regex(/^[\w-]{1,32}$/), secret: z.string().min(32) }))
    .min(1)
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length),
});

/**
 * Adds the keys that the first start generates and later starts reuse: `dataDir/keys.json` and,
 * when no shop is configured, `dataDir/demo.json`.
 * @throws {UnusableKeys} a file exists and is damaged or unreadable
 */
export async function completeConfig(config: Config): Promise<CompleteConfig> {
  const keys = await readOrMakeSecretFile(keysFile(config), keysSchema, makeKeys);
  if (config.shops.length > 0) return withKeys(config, keys, config.shops, false);
  const demo = await readOrMakeSecretFile(demoFile(config), demoKeysSchema, makeDemoKeys);
  return withKeys(config, keys, [demoShop(demo, config)], true);
}

/**
 * The same for a command that works beside a gateway. It generates nothing.
 * @throws {UninitializedDataFolder} no gateway has run with this data folder
 */
export async function completeFromExisting(config: Config): Promise<CompleteConfig> {
  const keys = await readSecretFile(keysFile(config), keysSchema);
  const demo =
    config.shops.length > 0 ? undefined : await readSecretFile(demoFile(config), demoKeysSchema);
  if (keys === undefined || (config.shops.length === 0 && demo === undefined)) {
    throw new UninitializedDataFolder(
      `no gateway has run with the data folder ${config.dataDir} yet: start one (npm start), ` +
        'or name its configuration with --config',
    );
  }
  return demo === undefined
    ? withKeys(config, keys, config.shops, false)
    : withKeys(config, keys, [demoShop(demo, config)], true);
}

/**
 * The same for a command that stores nothing: keys that no gateway has generated are made up.
 * @throws {UnusableKeys} a file exists and is damaged or unreadable
 */
export async function completeForReading(config: Config): Promise<CompleteConfig> {
  const keys = (await readSecretFile(keysFile(config), keysSchema)) ?? makeKeys();
  if (config.shops.length > 0) return withKeys(config, keys, config.shops, false);
  const demo = (await readSecretFile(demoFile(config), demoKeysSchema)) ?? makeDemoKeys();
  return withKeys(config, keys, [demoShop(demo, config)], true);
}

const keysFile = (config: Config): string => join(config.dataDir, 'keys.json');
const demoFile = (config: Config): string => join(config.dataDir, 'demo.json');

function makeKeys(): z.output<typeof keysSchema> {
  return {
    adminPassword: randomBytes(12).toString('base64url'),
    chatTokenKeys: [
      { id: randomBytes(4).toString('hex'), secret: randomBytes(32).toString('base64url') },
    ],
  };
}

function withKeys(
  config: Config,
  keys: z.output<typeof keysSchema>,
  shops: Config['shops'],
  demo: boolean,
): CompleteConfig {
  return {
    ...config,
    admin: {
      ...config.admin,
      password: config.admin.password ?? new Secret(keys.adminPassword),
    },
    shops,
    demo,
    chatTokenKeys: keys.chatTokenKeys.map(({ id, secret }) => ({
      id,
      secret: new Secret(secret),
    })),
  };
}

const DEMO_ADDRESS = 'support@demo.example';
/** From the block of numbers that is reserved for fiction. */
const DEMO_NUMBER = '+12025550142';
const DEMO_CHAT_KEY = 'demo';

/** The sample shop of `GET /demo`. It sets no colour: the demo page has its own. */
const DEMO_WIDGET = {
  name: 'Harbour Street Shoes',
  agent: { name: 'Mia' },
  greeting:
    'Hello! Ask about orders, sizes, shipping or returns: you get an answer within seconds, at any hour.',
};

/** Generated once for the demo shop and kept in `dataDir/demo.json`. */
const demoKeysSchema = z.strictObject({
  shopId: z.guid(),
  apiKey: z.string().min(32),
  accountSid: z.string().regex(/^AC[0-9a-f]{32}$/),
  authToken: z.string().min(32),
  /** Absent in a folder from before the demo had a page; no identity can then be signed. */
  identitySecret: z.exactOptional(z.string().min(32)),
});
type DemoKeys = z.output<typeof demoKeysSchema>;

function makeDemoKeys(): DemoKeys {
  return {
    shopId: randomUUID(),
    apiKey: randomBytes(24).toString('base64url'),
    accountSid: `AC${randomBytes(16).toString('hex')}`,
    authToken: randomBytes(16).toString('hex'),
    identitySecret: randomBytes(24).toString('base64url'),
  };
}

/** The shop that is used when none is configured, so that every channel can be tried at once. */
function demoShop(keys: DemoKeys, config: Config): ShopConfig {
  const { port, publicUrl } = config.http;
  const own = [new URL(publicUrl).origin, `http://localhost:${port}`, `http://127.0.0.1:${port}`];
  return shopSchema.parse({
    name: 'demo',
    shopId: keys.shopId,
    apiKey: keys.apiKey,
    email: { addresses: [DEMO_ADDRESS, '*@demo.example'] },
    sms: {
      numbers: [DEMO_NUMBER],
      twilio: { accountSid: keys.accountSid, authTokens: [keys.authToken] },
    },
    chat: {
      key: DEMO_CHAT_KEY,
      origins: [...new Set(own)],
      allowNoOrigin: 'true',
      identitySecrets: keys.identitySecret === undefined ? [] : [keys.identitySecret],
      widget: DEMO_WIDGET,
    },
  });
}
