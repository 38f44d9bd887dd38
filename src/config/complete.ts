import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from './config.ts';
import { demoKeysSchema, demoShop, makeDemoKeys } from './demo-shop.ts';
import { NeverStarted } from './never-started.ts';
import { Secret } from './secret.ts';
import { readOrMakeSecretFile, readSecretFile } from './secret-file.ts';

/**
 * Signs the visitors' session tokens. The first one signs, all of them verify: to replace a key,
 * put a new one before it in `dataDir/keys.json` and take the old one away a year later, when no
 * token of it lives any more (or at once, which makes new visitors of all anonymous ones).
 */
export interface ChatTokenKey {
  readonly id: string;
  readonly secret: Secret;
}

/** The configuration with what is generated: what a gateway runs on. */
export interface CompleteConfig extends Config {
  readonly admin: Config['admin'] & { readonly password: Secret };
  readonly chatTokenKeys: readonly ChatTokenKey[];
  /** No shop is configured: `shops` holds the demo shop. */
  readonly demo: boolean;
}

const keysSchema = z.strictObject({
  adminPassword: z.string().min(8),
  chatTokenKeys: z
    .array(z.strictObject({ id: z.string().regex(/^[\w-]{1,32}$/), secret: z.string().min(32) }))
    .min(1)
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length),
});

/**
 * Adds the keys that are made at the first start and reused ever after: `dataDir/keys.json`
 * and, when no shop is configured, `dataDir/demo.json`.
 * @throws {UnusableKeys} a file is there and damaged
 */
export async function completeConfig(config: Config): Promise<CompleteConfig> {
  const keys = await readOrMakeSecretFile(keysFile(config), keysSchema, makeKeys);
  if (config.shops.length > 0) return withKeys(config, keys, config.shops, false);
  const demo = await readOrMakeSecretFile(demoFile(config), demoKeysSchema, makeDemoKeys);
  return withKeys(config, keys, [demoShop(demo, config)], true);
}

/**
 * The same for a command that works beside a gateway: makes nothing.
 * @throws {NeverStarted} no gateway has run with this data folder
 */
export async function completeFromExisting(config: Config): Promise<CompleteConfig> {
  const keys = await readSecretFile(keysFile(config), keysSchema);
  const demo =
    config.shops.length > 0 ? undefined : await readSecretFile(demoFile(config), demoKeysSchema);
  if (keys === undefined || (config.shops.length === 0 && demo === undefined)) {
    throw new NeverStarted(
      `no gateway has run with the data folder ${config.dataDir} yet: start one (npm start), ` +
        'or name its configuration with --config',
    );
  }
  return demo === undefined
    ? withKeys(config, keys, config.shops, false)
    : withKeys(config, keys, [demoShop(demo, config)], true);
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
