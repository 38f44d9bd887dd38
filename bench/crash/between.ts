import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredMessage } from '../../test/simulation/platform-store.ts';
import { ACME } from '../../test/support/gateway-config.ts';
import { PlatformModelServer } from '../../test/support/platform-model-server.ts';
import { startCluster } from '../../test/support/postgres-cluster.ts';
import { seededRandom } from '../../test/support/random-faults.ts';
import { drained as drainedDatabase } from '../fleet/drain.ts';
import type { Workbench } from '../support/workbench.ts';
import { GatewayThatDies } from './gateway-that-dies.ts';
import { drained, startLoad } from './load.ts';

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreKind = (typeof STORES)[number];

export interface BetweenOptions {
  readonly store: StoreKind;
  readonly kills: number;
  readonly seed: number;
  /** Number of lanes per channel. */
  readonly lanes: number;
  readonly meanPauseMs: number;
  readonly drainWithinMs: number;
  readonly onProgress: (line: string) => void;
}

export interface BetweenReport {
  readonly store: StoreKind;
  readonly kills: number;
  readonly acknowledged: number;
  readonly atPlatform: number;
  /** Messages whose answer never came because of a kill, and that were not sent again. */
  readonly found: number;
  readonly reads: number;
  /** Messages that the platform has more than once. */
  readonly twice: readonly string[];
  readonly faults: readonly string[];
  readonly seconds: number;
}

/** A gateway is ready for so long at most until a request kills it. */
const LIFE_MS = 300;

/**
 * Kills a gateway whenever the platform has stored a message and has not answered yet. The platform does not
 * recognize a repetition, but lists what it has.
 */
export async function killsBetween(
  bench: Workbench,
  options: BetweenOptions,
): Promise<BetweenReport> {
  const started = performance.now();
  const random = seededRandom(options.seed);
  const platform = await PlatformModelServer.start({
    shops: [ACME],
    traits: { dedup: 'none', latencyMs: [1, 20] },
  });
  bench.onEnd('platform', () => platform.stop());
  const dataDir = join(await bench.folder(), 'data');
  const { spoolUrl, emptied } = await storeOf(bench, options, dataDir);
  const gateway = await GatewayThatDies.start(bench, dataDir, platform.url, {
    ...(spoolUrl !== undefined && { spoolUrl }),
  });
  const load = startLoad(bench, gateway, options);
  const unanswered: string[] = [];
  for (let kill = 1; kill <= options.kills; kill += 1) {
    await gateway.ready();
    await delay(random() * LIFE_MS);
    unanswered.push(await killAtNextMessage(platform, gateway));
    if (kill % 10 === 0) options.onProgress(`${options.store}: ${kill} of ${options.kills} kills`);
  }
  await gateway.ready();
  for (const visitor of await load.finish()) visitor.close();
  const left = await emptied();
  await gateway.stop();

  const stored = byRemoteId(platform.model.messages(ACME.shopId));
  const acknowledged = load.ledger.all.filter((sent) => sent.acknowledged);
  const lost = acknowledged.filter(({ remoteId }) => !stored.has(remoteId));
  return {
    ...{ store: options.store, kills: options.kills, acknowledged: acknowledged.length },
    atPlatform: platform.model.messages(ACME.shopId).length,
    found: unanswered.filter((remoteId) => stored.get(remoteId)?.length === 1).length,
    reads: platform.of('GET /messages/').length,
    twice: [...stored].flatMap(([remoteId, { length }]) => (length > 1 ? [remoteId] : [])),
    faults: [...left, ...lost.map(({ marker }) => `lost: ${marker}`)],
    seconds: (performance.now() - started) / 1000,
  };
}

async function storeOf(
  bench: Workbench,
  { store, drainWithinMs }: BetweenOptions,
  dataDir: string,
): Promise<{ spoolUrl?: string; emptied: () => Promise<readonly string[]> }> {
  if (store === 'sqlite') return { emptied: () => drained(dataDir, drainWithinMs) };
  const cluster = await startCluster();
  bench.onEnd('database', () => cluster.stop());
  const spoolUrl = await cluster.createDatabase();
  return {
    spoolUrl,
    emptied: async () => {
      const { jobs, others } = await drainedDatabase(spoolUrl, drainWithinMs);
      return [...(jobs > 0 ? [`queue: ${jobs} entries are not delivered`] : []), ...others];
    },
  };
}

/** @returns the message that the platform stored and the gateway got no answer to */
async function killAtNextMessage(
  platform: PlatformModelServer,
  gateway: GatewayThatDies,
): Promise<string> {
  const killed = new Promise<{ remoteId: string; over: Promise<void> }>((resolve) => {
    platform.gate = ({ call, remoteId }, answer) => {
      const usual = answer();
      if (call !== 'POST /messages/' || remoteId === undefined) return usual;
      platform.gate = (_received, next) => next();
      // It sends the signal before anything else.
      resolve({ remoteId, over: gateway.restart('SIGKILL') });
      return { kind: 'silence' };
    };
  });
  const { remoteId, over } = await killed;
  await over;
  return remoteId;
}

function byRemoteId(messages: readonly StoredMessage[]): Map<string, StoredMessage[]> {
  const found = new Map<string, StoredMessage[]>();
  for (const message of messages) {
    const { remoteId } = message;
    if (remoteId !== null) found.set(remoteId, [...(found.get(remoteId) ?? []), message]);
  }
  return found;
}

/** The report as text, for people or for a failed test. */
export function describeBetween(report: BetweenReport): string {
  const { store, kills, acknowledged, atPlatform, found, reads, twice, faults, seconds } = report;
  return [
    `${store}: ${kills} kills between the platform's commit and its answer, ${seconds.toFixed(0)} s in all`,
    `  acknowledged ${acknowledged}, at the platform ${atPlatform}; ${found} of ${kills} without an answer ` +
      `are there once; ${reads} reads of the list`,
    `  ${twice.length} twice, ${faults.length} other faults`,
    ...[...twice.map((id) => `FAULT twice: ${id}`), ...faults.map((fault) => `FAULT ${fault}`)],
  ].join('\n');
}
