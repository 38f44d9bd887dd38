import type { AuditPage } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import type { ConfigChoices } from '../../support/gateway-config.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';

export const PASSWORD = 'of-the-console';

export interface ConsoleScene {
  readonly dataDir: string;
  readonly gateway: RunningGateway;
  /** Somebody who has not signed in. */
  readonly stranger: ConsoleClient;
  /** Somebody who has. */
  readonly operator: ConsoleClient;
}

/** A whole gateway with its console; everything ends with the test. */
export async function consoleScene(choices: Partial<ConfigChoices> = {}): Promise<ConsoleScene> {
  const dir = tempDir();
  ends(() => dir.remove());
  const gateway = await startGateway({ dataDir: dir.path, ...choices });
  ends(() => gateway.stop());
  const operator = consoleClient(gateway.adminUrl);
  await operator.signIn(PASSWORD);
  return { dataDir: dir.path, gateway, stranger: consoleClient(gateway.adminUrl), operator };
}

/** The newest lines of the audit. */
export async function auditOf(operator: ConsoleClient): Promise<AuditPage> {
  // Of a gateway of this build: its own tests check the form.
  return (await operator.get('/api/audit?limit=200')).body as AuditPage;
}
