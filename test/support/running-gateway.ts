import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsBeside } from '../../src/cli/commands-beside.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import type { ReloadResult } from '../../src/console/contract.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { configSource } from '../../src/gateway/config-source.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { type ConfigChoices, gatewayConfig } from './gateway-config.ts';
import { reachable } from '../../src/runtime/ip-addresses.ts';
import { MAIN } from './gateway-process.ts';
import { lendBallast } from './store.ts';

export interface RunningGateway {
  readonly smtpPort: number;
  readonly httpUrl: string;
  /** Of the console. */
  readonly adminUrl: string;
  reload(): Promise<ReloadResult>;
  stop(): Promise<void>;
}

/** Without one, each gateway on a new folder loads two hundred modules to make its own. */
const SELF_SIGNED = new URL('self-signed.pem', import.meta.url);

/** Writes the file that a gateway is started with, and answers its path. */
export function writeConfig(choices: ConfigChoices, dir: string = choices.dataDir): string {
  if (existsSync(choices.dataDir)) {
    copyFileSync(SELF_SIGNED, join(choices.dataDir, 'smtp-self-signed.pem'));
    lendBallast(choices.dataDir);
  }
  const file = join(dir, 'gateway.json');
  writeFileSync(file, JSON.stringify(gatewayConfig(choices)));
  return file;
}

/**
 * A whole gateway in this process, configured as `serve` configures one.
 * @param deliversHere false: in a thread of its own, from the build, whose lines `logger` does not get
 */
export async function startGateway(
  choices: ConfigChoices,
  logger: Logger = silentLogger,
  { deliversHere = true } = {},
): Promise<RunningGateway> {
  const file = writeConfig(choices);
  const source = configSource({ file, env: {} });
  const loaded = source.load();
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  const config = await completeConfig(loaded.config);
  const gateway = createGateway({
    ...{ config, logger, source, deliversHere },
    runBeside: commandsBeside(MAIN, file),
  });
  const { smtp, http, admin } = await gateway.start();
  if (smtp === undefined || http === undefined || admin === undefined)
    throw new Error('a door that is not open');
  return {
    smtpPort: smtp.port,
    httpUrl: `http://${reachable(http)}`,
    adminUrl: `http://${reachable(admin)}`,
    reload: () => gateway.reload('signal'),
    stop: () => gateway.stop(),
  };
}
