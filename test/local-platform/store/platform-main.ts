// The program of `PlatformProcess`: a local platform on the folder and with the shops it is given.
import type { Shop } from '../../../src/local-platform/authenticate.ts';
import { createLocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../../src/observability/logger.ts';

const [dir = '', shops = '[]'] = process.argv.slice(2);
const platform = createLocalPlatform({
  dir,
  host: '127.0.0.1',
  port: 0,
  // What `PlatformProcess` passes.
  shops: JSON.parse(shops) as Shop[],
  logger: silentLogger,
  agent: { kind: 'off' },
});
await platform.start();
process.send?.(platform.url);
// Without its parent there is nobody to serve.
process.on('disconnect', () => process.exit(0));
