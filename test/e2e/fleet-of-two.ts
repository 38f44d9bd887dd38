import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewaySetting, type GatewaySetting } from '../support/gateway-setting.ts';
import { type Cluster, withClient } from '../support/postgres-cluster.ts';

export interface Fleet {
  readonly one: GatewaySetting;
  readonly other: GatewaySetting;
  readonly env: { readonly SLUICE_SPOOL_URL: string };
}

/** Two gateways, not started yet, with one database and one platform. */
export async function fleetOfTwo(cluster: Cluster): Promise<Fleet> {
  const env = { SLUICE_SPOOL_URL: await cluster.createDatabase() };
  const one = await gatewaySetting();
  const other = await gatewaySetting({ platformUrl: one.platform.url });
  return { one, other, env };
}

/** As if the time of all leases were over. */
export const endLeases = (url: string) =>
  withClient(url, (client) => client.query('UPDATE lane SET due_at = 0 WHERE owned'));

export const shareKeys = ({ one, other }: Fleet): void =>
  copyFileSync(join(one.dataDir, 'keys.json'), join(other.dataDir, 'keys.json'));
