import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { createGateway } from '../../src/gateway.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { type ConfigChoices, gatewayConfig } from './gateway-config.ts';

export interface RunningGateway {
  readonly smtpPort: number;
  readonly httpUrl: string;
  stop(): Promise<void>;
}

/** Writes the file that a gateway is started with, and answers its path. */
export function writeConfig(choices: ConfigChoices, dir: string = choices.dataDir): string {
  const file = join(dir, 'gateway.json');
  writeFileSync(file, JSON.stringify(gatewayConfig(choices)));
  return file;
}

/** A whole gateway in this process, configured as `serve` configures one. */
export async function startGateway(
  choices: ConfigChoices,
  logger: Logger = silentLogger,
): Promise<RunningGateway> {
  const loaded = loadConfig({ file: writeConfig(choices), env: {} });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  const config = await completeConfig(loaded.config);
  const gateway = createGateway({ config, logger });
  const { smtp, http } = await gateway.start();
  if (smtp === undefined || http === undefined) throw new Error('a door that is not open');
  return {
    smtpPort: smtp.port,
    httpUrl: `http://${http.host}:${http.port}`,
    stop: () => gateway.stop(),
  };
}
