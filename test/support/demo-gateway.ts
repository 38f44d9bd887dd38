import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { freePorts, ownLoopbackAddress } from './gateway-config.ts';
import { lendBallast } from './store.ts';

/** What a newcomer has who configured nothing: the demo shop, the local platform and its agent. */
export async function startDemoGateway(
  dataDir: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const url = `http://${host}:${ports.http}`;
  const file = join(dataDir, 'demo-gateway.json');
  const config = {
    dataDir,
    smtp: { enabled: false },
    http: { host, port: ports.http, publicUrl: url },
    admin: { host, port: ports.admin },
    localPlatform: { port: 0 },
  };
  lendBallast(dataDir);
  writeFileSync(file, JSON.stringify(config));
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  const gateway = createGateway({
    config: await completeConfig(loaded.config),
    logger: silentLogger,
  });
  await gateway.start();
  return { url, stop: () => gateway.stop() };
}
