import { createLocalPlatform } from '../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { FilledShop } from './fill.ts';

/** The local platform on a filled folder, in a process of its own. */
export async function start(options: {
  readonly dir: string;
  readonly shops: readonly FilledShop[];
}) {
  const platform = createLocalPlatform({
    dir: options.dir,
    host: '127.0.0.1',
    port: 0,
    shops: options.shops,
    logger: silentLogger,
    agent: { kind: 'off' },
  });
  await platform.start();
  return {
    url: () => platform.url,
    stop: () => platform.stop(),
  };
}
