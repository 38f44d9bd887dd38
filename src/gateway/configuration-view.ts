import type { CompleteConfig } from '../config/complete.ts';
import type { Config, ShopConfig } from '../config/config.ts';
import { UnusableKeys } from '../config/secret-file.ts';
import { warningsOf } from '../config/warnings.ts';
import type { ConfigurationView } from '../console/contract.ts';
import {
  calledUrl,
  shownUrl,
  TELNYX,
  webhookUrl,
  WHATSAPP,
} from '../operations/doctor/public-url.ts';
import type { CollectStatus } from '../observability/status.ts';
import { leavesOf, type ConfigLeaf } from './config-leaves.ts';
import type { ConfigSource } from './config-source.ts';
import { demoShopOf } from './demo.ts';
import type { LiveConfig } from './live-config.ts';
import { platformUrlOf } from './platform-url.ts';
import { withGeneratedKeys, planReload } from './reload.ts';
import type { z } from 'zod';
import { writtenDuration } from '../config/duration.ts';
import { showPath } from '../config/mistakes.ts';
import { schemaAt } from '../config/schema-paths.ts';
import { descriptions, type FieldDescription } from '../config/field.ts';
import { configSchema } from '../config/schema.ts';
import { Secret } from '../config/secret.ts';
import { shopSchema } from '../config/shop-schema.ts';

export interface ViewParts {
  readonly live: LiveConfig;
  readonly source: ConfigSource;
  /** When the running configuration was read, in milliseconds since the epoch. */
  readonly loadedAt: () => number;
  readonly status: CollectStatus;
}

/** Values that are generated at the first start rather than read from the file. */
const NOT_OF_THE_FILE: ReadonlySet<string> = new Set(['demo', 'chatTokenKeys']);

/**
 * The configuration for the console: the running values and the file's pending changes, without
 * secrets.
 */
export async function configurationView(parts: ViewParts): Promise<ConfigurationView> {
  const { live, source } = parts;
  const config = live.value;
  return {
    ...(source.file !== undefined && { file: source.file }),
    loadedAt: parts.loadedAt(),
    values: shownValues(config, source),
    pending: await pendingOf(config, source),
    warnings: [...warningsOf(config), ...(await unconfiguredShopWarnings(config, parts.status))],
    shops: config.shops.map((shop) => shownShop(shop, config)),
  };
}

/** Effective values by path, without secrets. */
export function shownValues(config: Config, source: ConfigSource): ConfigurationView['values'] {
  const loaded = source.defaults();
  const defaults = loaded.ok ? textsOf(loaded.config) : new Map<string, string>();
  const ofShops = textsOf({ shops: [shopDefaults()] });
  const read = source.load();
  return leavesOf(config)
    .filter(({ at }) => !NOT_OF_THE_FILE.has(String(at[0])))
    .map((leaf) => {
      const { path } = leaf;
      const variable = read.ok ? read.variables.get(showPath(leaf.at)) : undefined;
      const inShop = path.replace(/^shops\[[^\]]*\]/, `shops[${shopDefaults().name}]`);
      const usual = inShop === path ? defaults.get(path) : ofShops.get(inShop);
      const { value, secret } = shownValue(leaf);
      const isDefault = usual !== undefined && usual === value;
      return { path, value, secret, isDefault, ...(variable !== undefined && { variable }) };
    });
}

/**
 * The shown values by path. Secrets are left out: they are all masked alike, so one would equal its
 * default.
 */
function textsOf(config: object): ReadonlyMap<string, string> {
  return new Map(
    leavesOf(config).flatMap((leaf): [string, string][] => {
      const { value, secret } = shownValue(leaf);
      return secret && value !== '' ? [] : [[leaf.path, value]];
    }),
  );
}

async function pendingOf(
  running: CompleteConfig,
  source: ConfigSource,
): Promise<ConfigurationView['pending']> {
  const loaded = source.load();
  if (!loaded.ok) return null;
  let wanted: CompleteConfig;
  try {
    wanted = await withGeneratedKeys(loaded.config, running);
  } catch (error) {
    // Reported when the operator reloads, like mistakes in the file.
    if (error instanceof UnusableKeys) return null;
    throw error;
  }
  const { changed, needsRestart } = planReload(running, wanted, loaded.config.dataDir);
  return [
    ...changed.map((path) => ({ path, needsRestart: false })),
    ...needsRestart.map((path) => ({ path, needsRestart: true })),
  ];
}

/**
 * Warnings for queued entries of shops that are not configured: they are kept but not delivered.
 */
async function unconfiguredShopWarnings(config: Config, status: CollectStatus): Promise<string[]> {
  const names = new Set(config.shops.map(({ name }) => name));
  const waiting = new Map<string, number>();
  for (const { shop, state, count } of (await status()).counts) {
    if (state !== 'queued' || names.has(shop)) continue;
    waiting.set(shop, (waiting.get(shop) ?? 0) + count);
  }
  return [...waiting].map(
    ([shop, count]) =>
      `${count} queued for the shop ${shop}, which is not configured: they are kept until it is configured again or they are discarded`,
  );
}

/** The host and port that the domain's MX record has to point to. */
function smtpAt({ smtp }: Config): string {
  return smtp.enabled ? `${smtp.hostname}:${smtp.port}` : 'off';
}

function smsWebhook(sms: NonNullable<ShopConfig['sms']>, publicUrl: string): string {
  if (sms.telnyx !== undefined) return calledUrl(publicUrl, TELNYX);
  return sms.whatsappCloud === undefined ? webhookUrl(publicUrl) : calledUrl(publicUrl, WHATSAPP);
}

function shownShop(shop: ShopConfig, config: CompleteConfig): ConfigurationView['shops'][number] {
  const { name, email, sms, chat } = shop;
  const { publicUrl } = config.http;
  return {
    shop: name,
    platform: shownUrl(platformUrlOf(config, shop)),
    ...(email && { email: { addresses: email.addresses, smtp: smtpAt(config) } }),
    ...(sms && {
      sms: {
        numbers: sms.numbers,
        webhook: smsWebhook(sms, publicUrl),
      },
    }),
    ...(chat && {
      chat: {
        key: chat.key,
        origins: chat.origins,
        snippet: `<script async src="${publicUrl}/widget.js" data-key="${chat.key}"></script>`,
        ...(demoShopOf(config)?.shopId === shop.shopId && { demo: `${publicUrl}/demo` }),
      },
    }),
  };
}

/** Shown instead of a secret that is set. */
export const MASK = '••••';

export interface ShownValue {
  readonly value: string;
  readonly secret: boolean;
}

/**
 * A configuration value for display: durations with a unit, lists with commas, secrets masked.
 * Values that are not secrets but may contain one are cleaned: a URL loses its user, its password
 * and anything that looks like a token.
 */
export function shownValue({ at, value }: Pick<ConfigLeaf, 'at' | 'value'>): ShownValue {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const description = descriptionAt(at);
  return {
    value: items.map((item) => shownItem(item, description)).join(', '),
    // An empty list of secrets counts as a secret that is not set.
    secret:
      items.some((item) => item instanceof Secret) ||
      (Array.isArray(value) && description?.secret === true),
  };
}

function shownItem(item: unknown, description: FieldDescription | undefined): string {
  if (item instanceof Secret) return MASK;
  if (typeof item === 'number' && description?.expected.includes('a duration') === true) {
    return writtenDuration(item);
  }
  if (typeof item === 'string') return item.includes('://') ? shownUrl(item) : item;
  return typeof item === 'number' || typeof item === 'boolean' ? String(item) : MASK;
}

function descriptionAt(at: ConfigLeaf['at']): FieldDescription | undefined {
  const schema: z.ZodType | undefined = schemaAt(configSchema, at);
  const item = schema && schemaAt(schema, [0]);
  return (schema && descriptions.get(schema)) ?? (item && descriptions.get(item));
}

/**
 * The defaults of a shop's keys. They are in the schema, because the default file has no shops.
 * Keys without a default have placeholder values here that no real shop has.
 */
export function shopDefaults(): ShopConfig {
  return shopSchema.parse({
    name: 'default',
    shopId: '00000000-0000-0000-0000-000000000000',
    apiKey: 'none',
    email: { addresses: ['nobody@default.invalid'] },
    sms: {
      numbers: ['+12025550100'],
      twilio: { accountSid: `AC${'0'.repeat(32)}`, authTokens: ['none'] },
      telnyx: { apiKey: 'none', publicKey: `${'A'.repeat(43)}=` },
      whatsappCloud: {
        phoneNumberIds: ['00000'],
        accessToken: 'none',
        appSecrets: ['none'],
        verifyToken: 'none',
      },
    },
    chat: { key: 'default' },
  });
}
