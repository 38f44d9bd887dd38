import type { Command } from 'commander';
import { completeFromExisting } from '../../config/complete.ts';
import type { Config, ShopConfig } from '../../config/config.ts';
import { LOCAL } from '../../gateway/platform-url.ts';
import { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError } from '../../platform-api/errors.ts';
import { configuration } from '../configuration.ts';
import { UsageError } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { failure, type Where } from './failure.ts';

export interface Connection {
  readonly client: PlatformClient;
  readonly shop: ShopConfig;
}

/** Somebody is waiting. */
const RETRY = { retries: 2, minDelayMs: 150, maxRetryAfterMs: 30_000 };

/**
 * Does `work` on the platform of a shop.
 * @param optionOf the option that fills a field of the request, for a field that is refused
 * @throws {CommandFailed} what the platform or the network said, in words
 * @throws {UsageError} it is not clear which shop or which platform is meant
 */
export async function onPlatform<T>(
  command: Command,
  terminal: Terminal,
  work: (connection: Connection) => Promise<T>,
  optionOf: Readonly<Record<string, string>> = {},
): Promise<T> {
  const options = command.optsWithGlobals<ConnectionOptions>();
  const { config } = configuration(command, terminal);
  const where = await find(config, options);
  const client = new PlatformClient({
    baseUrl: where.baseUrl,
    apiKey: where.shop.apiKey.reveal(),
    shopId: where.shop.shopId,
    requestTimeoutMs: options.timeout ?? config.delivery.requestTimeout,
    mediaTimeoutMs: options.timeout ?? config.delivery.mediaTimeout,
    retry: RETRY,
  });
  try {
    return await work({ client, shop: where.shop });
  } catch (error) {
    throw error instanceof PlatformError ? failure(error, where, optionOf) : error;
  } finally {
    client.close();
  }
}

async function find(config: Config, { shop: name, url }: ConnectionOptions): Promise<Where> {
  // Configured shops need no generated key: a remote platform can be used where no gateway ran.
  const { shops } = config.shops.length > 0 ? config : await completeFromExisting(config);
  const shop = choose(shops, name);
  const place = { shop, dataDir: config.dataDir };
  if (url !== undefined) return { ...place, baseUrl: url, by: 'option' };
  const configured = shop.platformUrl ?? config.platform.url;
  if (configured !== LOCAL) return { ...place, baseUrl: configured, by: 'configuration' };
  const { port } = config.localPlatform;
  if (port !== 0) return { ...place, baseUrl: `http://127.0.0.1:${port}`, by: 'embedded' };
  throw new UsageError(
    'localPlatform.port is 0 (any free one): give --url with the address that serve printed',
  );
}

function choose(shops: readonly ShopConfig[], name: string | undefined): ShopConfig {
  const names = shops.map((shop) => shop.name).join(', ');
  if (name !== undefined) {
    const found = shops.find((shop) => shop.name === name || shop.shopId === name);
    if (found !== undefined) return found;
    throw new UsageError(`there is no shop ${name}; there are: ${names}`);
  }
  const [only, ...more] = shops;
  if (only !== undefined && more.length === 0) return only;
  throw new UsageError(`which shop? Give --shop with one of: ${names}`);
}
