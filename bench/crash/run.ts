import { join } from 'node:path';
import type { Fault } from '../../src/local-platform/respond.ts';
import { createLocalPlatform } from '../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { type Channel, CHANNELS } from '../../src/domain/channel.ts';
import type { ChatClient } from '../../test/support/chat-client.ts';
import { ACME } from '../../test/support/gateway-config.ts';
import { randomFaults, seededRandom } from '../../test/support/random-faults.ts';
import type { Workbench } from '../support/workbench.ts';
import { GatewayThatDies, type Lives } from './gateway-that-dies.ts';
import type { Sent } from './ledger.ts';
import { drained, startLoad } from './load.ts';
import { faultsIn, verify } from './verify.ts';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** The share of the platform's answers that are faults. */
  readonly faultShare: number;
  /** Number of lanes per channel. */
  readonly lanes: number;
  readonly meanPauseMs: number;
  /** The maximum time from ready to the kill. */
  readonly lifeMs: number;
  /** The time limit for the queue to become empty after the last start. */
  readonly drainWithinMs: number;
  /** Called with progress messages for people. */
  readonly onProgress: (line: string) => void;
}

export interface CrashReport {
  readonly kills: number;
  readonly acknowledged: Readonly<Record<Channel, number>>;
  /** SMS that Twilio gave up on; these do not count as lost, whether or not they were stored. */
  readonly givenUp: number;
  readonly resent: number;
  readonly atPlatform: number;
  readonly platformFaults: ReadonlyMap<string, number>;
  readonly lives: Lives;
  readonly seconds: number;
  /** Empty if nothing was lost or duplicated, the order is right, and every byte is intact. */
  readonly faults: readonly string[];
}

/** Faults that platforms show under load; maintenance pages are tested elsewhere. */
const KINDS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429 },
  { kind: 'reset' },
  { kind: 'reset-after-commit' },
  { kind: 'empty' },
];

/**
 * Kills a gateway at random moments while messages arrive on all three channels and the platform
 * fails at random; then lets it finish and looks for every acknowledged message at the platform.
 */
export async function crash(bench: Workbench, options: CrashOptions): Promise<CrashReport> {
  const started = performance.now();
  const random = seededRandom(options.seed);
  const faults = randomFaults(seededRandom(options.seed + 1), options.faultShare, KINDS);
  const folder = await bench.folder();
  const dataDir = join(folder, 'data');
  const platform = createLocalPlatform({
    ...{ dir: join(folder, 'platform'), host: '127.0.0.1', port: 0, shops: [ACME] },
    ...{ logger: silentLogger, agent: { kind: 'off' }, faults: faults.hook },
  });
  bench.onEnd('platform', () => platform.stop());
  await platform.start();
  const gateway = await GatewayThatDies.start(bench, dataDir, platform.url);

  const load = startLoad(bench, gateway, options);
  for (let kill = 1; kill <= options.kills; kill += 1) {
    await gateway.dieOnce(random, options.lifeMs);
    options.onProgress(`${kill} of ${options.kills} kills`);
  }
  await gateway.ready();
  const visitors = await load.finish();
  options.onProgress('every sender has its answer; waiting for the queue to become empty');
  const faultsOfQueue = await drained(dataDir, options.drainWithinMs);
  const { all } = load.ledger;
  const record = faultsOfVisitors(visitors, all);
  for (const visitor of visitors) visitor.close();
  await gateway.stop();

  const verdict = await verify(all, platform.inspect, ACME.shopId);
  const acknowledged = CHANNELS.map((channel) => [channel, load.ledger.acknowledged(channel)]);
  return {
    kills: options.kills,
    // One entry per channel.
    acknowledged: Object.fromEntries(acknowledged) as Record<Channel, number>,
    givenUp: all.filter((sent) => !sent.acknowledged).length,
    resent: all.reduce((sum, { tries }) => sum + Math.max(0, tries - 1), 0),
    atPlatform: platform.inspect.messages(ACME.shopId).length,
    platformFaults: faults.counts,
    lives: gateway.lives,
    seconds: (performance.now() - started) / 1000,
    faults: [...faultsIn(verdict), ...faultsOfQueue, ...record],
  };
}

/** Checks each visitor's record: every message that they sent, once, in order, without gaps. */
function faultsOfVisitors(
  visitors: readonly ChatClient[],
  all: readonly Sent[],
): readonly string[] {
  return visitors.flatMap((visitor) => {
    const { visitorId } = visitor.session;
    const own = all.filter(({ remoteId }) => remoteId.startsWith(`chat:${visitorId}:`));
    const shown = visitor.texts.map((text) => /\[.*\]/.exec(text)?.[0]);
    const seqs = new Set(visitor.messages.map(({ seq }) => seq));
    const whole = own.every(({ marker }, index) => shown[index] === marker && seqs.has(index + 1));
    return whole && shown.length === own.length ? [] : [`record of ${own[0]?.lane ?? '?'}`];
  });
}

/** The report as text, for people or for a failed test. */
export function describe(report: CrashReport): string {
  const { acknowledged, lives, platformFaults } = report;
  const starts = lives.startMs.toSorted((a, b) => a - b);
  const median = starts[Math.floor(starts.length / 2)] ?? 0;
  const failures = [...platformFaults].map(([kind, count]) => `${kind} ${count}`).join(', ');
  return [
    `kills                ${report.kills} (SIGKILL), ${report.seconds.toFixed(0)} s in all`,
    `acknowledged         email ${acknowledged.email}, SMS ${acknowledged.sms}, chat ${acknowledged.web_chat}`,
    `at the platform      ${report.atPlatform}`,
    `sent again           ${report.resent} times, because no answer came`,
    `SMS given up         ${report.givenUp} after Twilio's second try: never acknowledged, may be lost`,
    `in flight at a kill  ${lives.requeued} entries, queued again; ${lives.orphans} unfinished files swept`,
    `platform's failures  ${failures}`,
    `start of a gateway   ${median.toFixed(0)} ms (median), ${(starts.at(-1) ?? 0).toFixed(0)} ms (longest)`,
    report.faults.length === 0
      ? 'result               0 lost, 0 twice, order kept, every attachment byte for byte'
      : `result               ${report.faults.length} FAULTS\n  ${report.faults.slice(0, 40).join('\n  ')}`,
  ].join('\n');
}
