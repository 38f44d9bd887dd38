import { setTimeout as delay } from 'node:timers/promises';
import { Dice } from '../../test/support/dice.ts';
import { CHANNELS } from '../../src/domain/channel.ts';
import type { Workbench } from '../support/workbench.ts';
import { inflictOnDatabase, smallDisk } from './database-faults.ts';
import { countExpiredLeases, drained, foundByLooks, timelineOf } from './drain.ts';
import { unexplained } from './explain.ts';
import { type FaultCounts, inflictFaults } from './faults.ts';
import { type Fleet, startFleet } from './gateways.ts';
import { Load } from './load.ts';
import { lossesOf, print, printTries, sorted } from './report.ts';

const GATEWAYS = 3;
/** With fewer, a run does not show that looks find anything. */
const SLOWEST_ANSWER_MS = 3000;
const FOUND_AT_LEAST = 20;
const DRAIN_WITHIN_MS = 900_000;

export interface ChaosOptions {
  readonly messages: number;
  readonly minutes: number;
  readonly seed: number;
  /** Only the database suffers. */
  readonly ofDatabase: boolean;
}

/**
 * Three gateways lose their processes and their network again and again as long as messages arrive, some of them at
 * two gateways; or only their database does. Is an acknowledged message lost, delivered twice, or out of order?
 * Resolves with whether none is.
 */
export async function chaos(bench: Workbench, options: ChaosOptions): Promise<boolean> {
  const { messages, minutes, seed, ofDatabase } = options;
  const disk = ofDatabase ? await smallDisk(bench) : undefined;
  const fleet = await startFleet(bench, GATEWAYS, { ...(disk && { databaseIn: disk.path }) });
  const { gateways, network, url } = fleet;
  console.log(`${GATEWAYS} gateways are ready; lines are cut by ${network.how}`);
  if (ofDatabase) answerSlowly(fleet, Dice.of(seed));
  const [faultsOver, over] = [new AbortController(), new AbortController()];
  bench.onEnd('faults', () => faultsOver.abort());
  const leases = countExpiredLeases(url, over.signal);
  bench.onEnd('leases', async () => {
    over.abort();
    await leases;
  });

  const load = new Load({
    ...{ doors: gateways, messages, seed, copies: true },
    overMs: minutes * 60_000,
  });
  const sending = load.run();
  const suffering = { seed, over: faultsOver.signal };
  const faulting =
    disk === undefined
      ? inflictFaults(fleet, suffering)
      : inflictOnDatabase(fleet, disk, suffering);
  const progress = setInterval(() => printProgress(load, fleet), 30_000);
  bench.onEnd('progress', () => clearInterval(progress));
  const begunAt = performance.now();
  await Promise.all([sending, delay(minutes * 60_000)]);
  faultsOver.abort();
  const faults = await faulting;
  const lasted = ((performance.now() - begunAt) / 60_000).toFixed(1);
  console.log(
    `every message and every copy is acknowledged, and the faults are over after ${lasted} minutes`,
  );
  const rest = await drained(url, DRAIN_WITHIN_MS);
  over.abort();
  clearInterval(progress);
  for (const gateway of gateways) await gateway.ready();
  const losses = await lossesOf(load, fleet, rest);
  printTries(load);
  printFaults(fleet, faults);
  const [expired, again] = [await leases, submittedAgain(fleet)];
  console.log(`leases that ran out: ${expired}; messages submitted more than once: ${again}`);
  const needless = fleet.platform.calls.flatMap(({ call, status, payload }) =>
    call === 'POST /messages/' && status === 200 ? (payload?.message.remote_id ?? '') : [],
  );
  const found = await foundByLooks(url);
  console.log(
    `submitted though the platform had them: ${needless.length}; found by a look: ${found}`,
  );
  if (ofDatabase) {
    for (const id of needless.slice(0, 10)) console.log(`${id}: ${await timelineOf(url, id)}`);
    if (found < FOUND_AT_LEAST) console.log('few were looked up, so this run shows nothing');
    return (
      print([...losses, ['twice where nothing is recognized', needless]]) && found >= FOUND_AT_LEAST
    );
  }
  const isIdle = expired === 0 || again === 0;
  if (isIdle) console.log('nothing was claimed twice, so this run shows nothing');
  // Without a look that could be made, a message is submitted again.
  const suspects = unexplained(fleet.platform.calls, faults.holdUps);
  const steps = await Promise.all(suspects.map((id) => timelineOf(url, id)));
  const wrong = suspects.filter((_id, n) => steps[n]?.includes('look_given_up') !== true);
  for (const id of wrong.slice(0, 10)) console.log(`${id}: ${steps[suspects.indexOf(id)] ?? ''}`);
  return print([...losses, ['submitted again though a look could show them', wrong]]) && !isIdle;
}

/** So that messages are on their way whenever a line is cut, and have to be looked for. */
function answerSlowly({ platform }: Fleet, dice: Dice): void {
  platform.gate = async (call) => {
    if (call === 'POST /messages/') await delay(dice.below(SLOWEST_ANSWER_MS));
    return 'pass' as const;
  };
}

function printProgress({ counts }: Load, { platform }: Fleet): void {
  const acknowledged = CHANNELS.map((channel) => counts[channel].acknowledged);
  const sum = acknowledged.reduce((one, other) => one + other, 0);
  console.log(`${sum} acknowledged, ${platform.calls.length} calls of the platform`);
}

function printFaults({ gateways }: Fleet, { counts, idle }: FaultCounts): void {
  console.log(`faults    ${sorted(counts)}; without effect: ${sorted(idle) || 'none'}`);
  const failedStarts = gateways.reduce((sum, each) => sum + each.failedStarts, 0);
  console.log(`starts that failed without a database, and were repeated: ${failedStarts}`);
  const events = new Map<string, number>();
  for (const { message } of gateways.flatMap(({ troubles }) => troubles)) {
    events.set(message, (events.get(message) ?? 0) + 1);
  }
  console.log(`logged    ${sorted(events)}`);
}

function submittedAgain({ platform }: Fleet): number {
  const posts = new Map<string, number>();
  for (const { message } of platform.payloads) {
    const id = message.remote_id ?? '';
    posts.set(id, (posts.get(id) ?? 0) + 1);
  }
  return [...posts.values()].filter((times) => times > 1).length;
}
