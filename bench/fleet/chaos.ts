import { CHANNELS } from '../../src/domain/channel.ts';
import { ACME } from '../../test/support/gateway-config.ts';
import { verify } from '../crash/verify.ts';
import type { Workbench } from '../support/workbench.ts';
import { countExpiredLeases, drained, type Rest } from './drain.ts';
import { type FaultCounts, inflictFaults } from './faults.ts';
import { type Fleet, startFleet } from './gateways.ts';
import { Load } from './load.ts';

const GATEWAYS = 3;
const DRAIN_WITHIN_MS = 900_000;

export interface ChaosOptions {
  readonly messages: number;
  readonly minutes: number;
  readonly seed: number;
}

/**
 * Three gateways lose their processes and their network again and again while messages arrive, some of them at
 * two gateways. Is an acknowledged message lost, delivered twice, or out of order? Resolves with whether none is.
 */
export async function chaos(bench: Workbench, options: ChaosOptions): Promise<boolean> {
  const { messages, minutes, seed } = options;
  const fleet = await startFleet(bench, GATEWAYS);
  const { gateways, network, url } = fleet;
  console.log(`${GATEWAYS} gateways are ready; lines are cut by ${network.how}`);
  const [faultsOver, over] = [new AbortController(), new AbortController()];
  bench.onEnd('faults', () => faultsOver.abort());
  const leases = countExpiredLeases(url, over.signal);

  const load = new Load({
    ...{ doors: gateways, messages, seed, copies: true },
    overMs: minutes * 60_000,
  });
  const sending = load.run();
  const faulting = inflictFaults(fleet, { seed, over: faultsOver.signal });
  const progress = setInterval(() => printProgress(load, fleet), 30_000);
  bench.onEnd('progress', () => clearInterval(progress));
  setTimeout(() => faultsOver.abort(), minutes * 60_000).unref();
  const faults = await faulting;
  console.log('the faults are over');
  await sending;
  console.log('every message and every copy is acknowledged');
  const rest = await drained(url, DRAIN_WITHIN_MS);
  over.abort();
  clearInterval(progress);
  for (const gateway of gateways) await gateway.ready();
  let records = 0;
  for (const [n, visitor] of load.visitors.entries()) {
    const door = gateways[n % gateways.length];
    if (door === undefined || !(await visitor.hasAll(door))) records += 1;
    visitor.close();
  }
  return judge(load, fleet, faults, { ...rest, records, expired: await leases });
}

function printProgress({ counts }: Load, { platform }: Fleet): void {
  const acknowledged = CHANNELS.map((channel) => counts[channel].acknowledged);
  const sum = acknowledged.reduce((one, other) => one + other, 0);
  console.log(`${sum} acknowledged, ${platform.calls.length} calls of the platform`);
}

interface Findings extends Rest {
  /** Visitors whose record or tab was not what they wrote. */
  readonly records: number;
  readonly expired: number;
}

async function judge(
  load: Load,
  { gateways, platform }: Fleet,
  faults: FaultCounts,
  found: Findings,
): Promise<boolean> {
  const { all } = load.ledger;
  const verdict = await verify(all, platform.inspect, ACME.shopId);
  const posts = new Map<string, number>();
  for (const { message } of platform.payloads) {
    const id = message.remote_id ?? '';
    posts.set(id, (posts.get(id) ?? 0) + 1);
  }
  const again = [...posts.values()].filter((times) => times > 1).length;
  const ended = gateways.flatMap(({ endedByItself }) => endedByItself);

  console.log(
    '\n          acknowledged  at another gateway too  slowest  tries that were not acknowledged',
  );
  for (const channel of CHANNELS) {
    const { acknowledged, copies, slowestMs, refused } = load.counts[channel];
    const tries = sorted(refused);
    const slowest = `${(slowestMs / 1000).toFixed(1)} s`.padStart(7);
    console.log(
      `${channel.padEnd(8)}  ${String(acknowledged).padStart(12)}  ${String(copies).padStart(22)}  ${slowest}  ${tries}`,
    );
  }
  console.log(
    `faults    ${sorted(faults.counts)}; without effect: ${sorted(faults.idle) || 'none'}`,
  );
  console.log(`leases that ran out: ${found.expired}; messages submitted more than once: ${again}`);
  const events = new Map<string, number>();
  for (const { message } of gateways.flatMap(({ troubles }) => troubles)) {
    events.set(message, (events.get(message) ?? 0) + 1);
  }
  console.log(`logged    ${sorted(events)}`);
  for (const tail of ended) console.log(`a gateway ended by itself:\n${tail}`);
  const stored = all.length;
  const checks: readonly (readonly [string, readonly string[] | number])[] = [
    ['lost', verdict.lost],
    ['twice on the platform', verdict.twice],
    ['twice in the database', found.entries - stored],
    ['out of order in a lane', verdict.outOfOrder],
    ['with other attachments', verdict.damaged],
    ['unknown on the platform', verdict.unknown],
    ['neither queued nor delivered', found.others],
    ['jobs left behind', found.jobs],
    ['lanes left behind', found.lanes],
    ['visitors with a wrong record', found.records],
    ['gateways that ended by themselves', ended.length],
  ];
  let isPassed = true;
  for (const [what, counted] of checks) {
    const number = typeof counted === 'number' ? counted : counted.length;
    const some = typeof counted === 'number' ? [] : counted.slice(0, 10);
    if (number !== 0) isPassed = false;
    console.log(
      `${String(number).padStart(8)} ${what}${some.length > 0 ? `: ${some.join(', ')}` : ''}`,
    );
  }
  if (found.expired + again === 0) console.log('nothing was claimed twice: this run shows nothing');
  return isPassed && found.expired + again > 0;
}

const sorted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
