import { afterAll, beforeAll } from '@jest/globals';
import type { AuditPage } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import type { ConfigChoices } from '../../support/gateway-config.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';

export const PASSWORD = 'of-the-console';
const STARTED_WITHIN_MS = 60_000;

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
  return peopleAt(gateway, dir.path);
}

/**
 * One gateway for all tests of a file or a `describe` that do not mind each other's messages and
 * lines of the audit log.
 * @returns the scene, once the tests run: with a session of its own for each test
 */
export function sharedConsole(choices: Partial<ConfigChoices> = {}): () => Promise<ConsoleScene> {
  let dir: ReturnType<typeof tempDir> | undefined;
  let gateway: RunningGateway | undefined;
  beforeAll(async () => {
    dir = tempDir();
    gateway = await startGateway({ dataDir: dir.path, ...choices });
  }, STARTED_WITHIN_MS);
  afterAll(async () => {
    await gateway?.stop();
    dir?.remove();
  });
  return () => {
    if (gateway === undefined || dir === undefined) throw new Error('the gateway was not started');
    return peopleAt(gateway, dir.path);
  };
}

async function peopleAt(gateway: RunningGateway, dataDir: string): Promise<ConsoleScene> {
  const operator = consoleClient(gateway.adminUrl);
  await operator.signIn(PASSWORD);
  return { dataDir, gateway, stranger: consoleClient(gateway.adminUrl), operator };
}

/** The newest lines of the audit. */
export async function auditOf(operator: ConsoleClient): Promise<AuditPage> {
  // Of a gateway of this build: its own tests check the form.
  return (await operator.get('/api/audit?limit=200')).body as AuditPage;
}
