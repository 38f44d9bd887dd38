import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLocalPlatform } from '../../src/local-platform/local-platform.ts';
import type { Faults } from '../../src/local-platform/respond.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { Channel } from '../../src/domain/channel.ts';
import { CHANNELS } from '../../src/domain/channel.ts';
import { ACME, freePorts, ownLoopbackAddress } from '../../test/support/gateway-config.ts';
import { GatewayProcess, type ProcessChoices } from '../../test/support/gateway-process.ts';
import { seededRandom } from '../../test/support/random-faults.ts';
import { writeConfig } from '../../test/support/running-gateway.ts';
import { drained, startLoad } from '../crash/load.ts';
import { faultsIn, verify } from '../crash/verify.ts';
import { waitUntil } from '../support/wait-until.ts';
import { Workbench } from '../support/workbench.ts';
import { type FailedSync, LyingDisk } from './disk.ts';

export interface PowerCutOptions {
  readonly runs: number;
  readonly seed: number;
  /** The compiled `test/durability/lying-disk.c`. */
  readonly library: string;
  /** Only fsyncs of this part fail: one of `PARTS`. */
  readonly part?: string;
  /** How soon the gateway has to exit after the failed fsync; 2 s unless given. */
  readonly exitWithinMs?: number;
  readonly onProgress: (line: string) => void;
}

/** The result of one run. */
interface Run {
  readonly failed: string;
  /** For each acknowledgement sent after the failure: how long after it, in milliseconds. */
  readonly acks: readonly number[];
  readonly exitMs: number;
  /** The number of requests that the platform never answered. */
  readonly unanswered: number;
  readonly acknowledged: Readonly<Record<Channel, number>>;
  readonly faults: readonly string[];
}

export interface PowerCutReport {
  readonly runs: readonly Run[];
  readonly seconds: number;
}

const LANES = 3;
const MEAN_PAUSE_MS = 25;
/** In every second run, the platform does not answer every nth request until the fsync fails. */
const HANGING_NTH = 4;
const EXIT_WITHIN_MS = 2000;
/**
 * How long it may take on a busy machine until all threads know of the failed fsync.
 * Acknowledgements sent before that are for messages that an earlier fsync had made durable.
 */
const NOTICED_WITHIN_MS = 500;
const GIVEN_UP_MS = 15_000;
const DRAIN_WITHIN_MS = 60_000;
/**
 * Which fsyncs may fail: of the WAL, which are the most frequent; of the database, during a
 * checkpoint; of a file and of the two folders; or any.
 */
const PARTS = [
  { part: '/spool.db-wal', nth: 40 },
  { part: '/spool.db$', nth: 1 },
  { part: '.tmp$', nth: 6 },
  { part: '/blobs$', nth: 6 },
  { part: '/', nth: 60 },
];

/**
 * Each run: messages arrive on three channels; one fsync fails, and the data that it should have
 * written is lost from the disk but not from memory. The gateway exits, even if deliveries hang, is
 * restarted on what can be read, and receives the same messages again. Then the power is cut, and
 * every message that was ever acknowledged is looked for at the platform.
 */
export async function powerCut(options: PowerCutOptions): Promise<PowerCutReport> {
  const started = performance.now();
  const runs: Run[] = [];
  for (let n = 0; n < options.runs; n += 1) {
    const bench = new Workbench();
    try {
      const run = await once(bench, options, options.seed + n);
      runs.push(run);
      options.onProgress(`${n + 1} of ${options.runs}: ${describeRun(run)}`);
    } finally {
      await bench.end();
    }
  }
  return { runs, seconds: (performance.now() - started) / 1000 };
}

async function once(
  bench: Workbench,
  { library, part, exitWithinMs = EXIT_WITHIN_MS }: PowerCutOptions,
  seed: number,
): Promise<Run> {
  const random = seededRandom(seed);
  const folder = await bench.folder();
  const root = join(folder, 'disk');
  await mkdir(root);
  const dataDir = join(root, 'data');
  const disk = await LyingDisk.open(root, join(folder, 'shadow'), library);
  let hangs = seed % 2 === 0;
  let requests = 0;
  let unanswered = 0;
  const hang: Faults = () => {
    requests += 1;
    if (!hangs || requests % HANGING_NTH !== 0) return undefined;
    unanswered += 1;
    return { kind: 'hang' };
  };
  const platform = createLocalPlatform({
    ...{ dir: join(folder, 'platform'), host: '127.0.0.1', port: 0, shops: [ACME] },
    ...{ logger: silentLogger, agent: { kind: 'off' }, faults: hang },
  });
  bench.onEnd('platform', () => platform.stop());
  await platform.start();

  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({ dataDir, platformUrl: platform.url, host, ports }, folder);
  const choices: ProcessChoices = { host, ports, configFile };
  const start = async (env: ProcessChoices['env'] = {}): Promise<GatewayProcess> => {
    const gateway = new GatewayProcess({ ...choices, env });
    bench.onEnd('gateway', () => gateway.kill());
    await gateway.ready(choices);
    return gateway;
  };

  const first = await start(disk.env);
  const httpUrl = `http://${host}:${ports.http}`;
  const load = startLoad(
    bench,
    { host, smtpPort: ports.smtp, httpUrl },
    { seed, lanes: LANES, meanPauseMs: MEAN_PAUSE_MS, encryptedShare: 0 },
  );
  await delay(300 + random() * 500);
  const failed = await failOne(disk, random, part);
  hangs = false;
  const exit = await Promise.race([first.exited, delay(GIVEN_UP_MS)]);
  const exitMs = Date.now() - failed.at;
  if (exit === undefined) await first.kill();
  const acks = await disk.acksAfterFailure();
  await disk.mend();

  const second = await start(disk.env);
  await delay(200 + random() * 800);
  await second.kill();
  await disk.cutPower();

  const third = await start().catch((error: unknown) => {
    throw new Error(`after the power cut, and ${failed.path} that failed`, { cause: error });
  });
  await delay(200);
  const visitors = await load.finish();
  const faultsOfQueue = await drained(dataDir, DRAIN_WITHIN_MS);
  for (const visitor of visitors) visitor.close();
  const { code } = await third.terminate();

  const { all } = load.ledger;
  const verdict = await verify(all, platform.inspect, ACME.shopId);
  const acknowledged = CHANNELS.map((channel) => [channel, load.ledger.acknowledged(channel)]);
  const afterwards = acks.filter((ms) => ms > NOTICED_WITHIN_MS);
  const late = afterwards.length > 0 ? [`acknowledged after ${afterwards.join(', ')} ms`] : [];
  return {
    failed: failed.path.slice(dataDir.length),
    acks,
    exitMs,
    unanswered,
    // One entry per channel.
    acknowledged: Object.fromEntries(acknowledged) as Record<Channel, number>,
    faults: [
      ...late,
      ...(exit === undefined || exitMs > exitWithinMs ? [`ended after ${exitMs} ms`] : []),
      ...(exit !== undefined && (exit.code === 0 || exit.code === null)
        ? [`ended with ${exit.code ?? exit.signal}`]
        : []),
      ...(code === 0 ? [] : [`the last one ended with ${code}`]),
      ...faultsIn(verdict),
      ...faultsOfQueue,
    ],
  };
}

/** Makes one fsync fail; if the chosen one does not happen in time, the next one of any file. */
async function failOne(
  disk: LyingDisk,
  random: () => number,
  part: string | undefined,
): Promise<FailedSync> {
  const parts = PARTS.filter((each) => part === undefined || each.part === part);
  const chosen = parts[Math.floor(random() * parts.length)] ?? { part: '/', nth: 1 };
  await disk.failSync(1 + Math.floor(random() * chosen.nth), chosen.part);
  try {
    return await waitUntil('the sync to fail', 4000, () => disk.failed());
  } catch {
    await disk.failSync(1, '/');
    return waitUntil('any sync to fail', GIVEN_UP_MS, () => disk.failed());
  }
}

const describeRun = ({ failed, exitMs, unanswered, acknowledged, faults }: Run): string =>
  `${failed} failed, ended after ${Math.round(exitMs)} ms with ${unanswered} requests unanswered, ` +
  `${Object.values(acknowledged).reduce((sum, count) => sum + count, 0)} acknowledged` +
  (faults.length === 0 ? '' : `; FAULTS: ${faults.slice(0, 5).join('; ')}`);

/** The report as text, for people or for a failed test. */
export function describe({ runs, seconds }: PowerCutReport): string {
  const total = (channel: Channel): number =>
    runs.reduce((sum, { acknowledged }) => sum + acknowledged[channel], 0);
  const kinds = new Map<string, number>();
  for (const { failed } of runs) {
    const kind = failed.replace(/^\/blobs\/.*/, 'a message file').replace(/^$/, 'the data folder');
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const exits = runs.map(({ exitMs }) => exitMs).toSorted((a, b) => a - b);
  const acks = runs.flatMap((run) => run.acks);
  const late = acks.filter((ms) => ms > NOTICED_WITHIN_MS);
  const faults = runs.flatMap((run, n) => run.faults.map((fault) => `run ${n + 1}: ${fault}`));
  return [
    `runs                 ${runs.length}, ${seconds.toFixed(0)} s in all`,
    `failed sync of       ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ')}`,
    `acknowledged         email ${total('email')}, SMS ${total('sms')}, chat ${total('web_chat')}`,
    `after the failure    ${late.length} acknowledgements; ${acks.length - late.length} were on their way, the last after ${Math.max(0, ...acks).toFixed(1)} ms`,
    `end of the process   ${Math.round(exits[Math.floor(exits.length / 2)] ?? 0)} ms (median), ${Math.round(exits.at(-1) ?? 0)} ms (longest)`,
    faults.length === 0
      ? 'after the power cut  0 lost, 0 twice, order kept, every attachment byte for byte'
      : `result               ${faults.length} FAULTS\n  ${faults.slice(0, 40).join('\n  ')}`,
  ].join('\n');
}

export const faultsOf = ({ runs }: PowerCutReport): readonly string[] =>
  runs.flatMap(({ faults }) => faults);
