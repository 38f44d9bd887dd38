import type { Config, ShopConfig } from '../config/config.ts';

/** The value of `platform.url` and `shops[].platformUrl` that selects the embedded platform. */
export const LOCAL = 'local';

export const platformUrlOf = (
  config: Pick<Config, 'platform'>,
  shop: Pick<ShopConfig, 'platformUrl'>,
): string => shop.platformUrl ?? config.platform.url;
