import { CHANNELS } from '../../src/domain/channel.ts';
import { ACME } from '../../test/support/gateway-config.ts';
import { verify } from '../crash/verify.ts';
import type { Rest } from './drain.ts';
import type { Fleet } from './gateways.ts';
import type { Load } from './load.ts';

/** What must not be, by what it is called: how often, or which messages. */
export type Losses = readonly (readonly [what: string, found: number | readonly string[]])[];

/** Compares what was sent with the platform, the database and the visitors' tabs. */
export async function lossesOf(
  { ledger, visitors }: Load,
  { gateways, platform }: Fleet,
  rest: Rest,
): Promise<Losses> {
  const wrong: string[] = [];
  for (const [n, visitor] of visitors.entries()) {
    const door = gateways[n % gateways.length];
    if (door === undefined || !(await visitor.hasAll(door))) wrong.push(visitor.lane);
    visitor.close();
  }
  const verdict = await verify(ledger.all, platform.inspect, ACME.shopId);
  const ended = gateways.flatMap(({ endedByItself }) => endedByItself);
  for (const tail of ended) console.log(`a gateway ended by itself:\n${tail}`);
  return [
    ['lost', verdict.lost],
    ['twice on the platform', verdict.twice],
    ['twice in the database', rest.entries - ledger.all.length],
    ['out of order in a lane', verdict.outOfOrder],
    ['with other attachments', verdict.damaged],
    ['unknown on the platform', verdict.unknown],
    ['neither queued nor delivered', rest.others],
    ['jobs left behind', rest.jobs],
    ['lanes left behind', rest.lanes],
    ['visitors with a wrong record', wrong],
    ['gateways that ended by themselves', ended.length],
  ];
}

/** @returns whether there is none of all */
export function print(losses: Losses): boolean {
  for (const [what, found] of losses) {
    const names = typeof found === 'number' ? '' : found.slice(0, 10).join(', ');
    console.log(`${String(countOf(found)).padStart(8)} ${what}${names && `: ${names}`}`);
  }
  return losses.every(([, found]) => countOf(found) === 0);
}

const countOf = (found: number | readonly string[]): number =>
  typeof found === 'number' ? found : found.length;

/** One line for each channel. */
export function printTries({ counts }: Load): void {
  console.log(
    '\n          acknowledged  at another gateway too  slowest  tries without an acknowledgement',
  );
  for (const channel of CHANNELS) {
    const { acknowledged, copies, slowestMs, refused } = counts[channel];
    const columns = [
      channel.padEnd(8),
      String(acknowledged).padStart(12),
      String(copies).padStart(22),
      `${(slowestMs / 1000).toFixed(1)} s`.padStart(7),
      sorted(refused),
    ];
    console.log(columns.join('  '));
  }
}

/** The most frequent first. */
export const sorted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
