import type { Command } from 'commander';
import { datedSentence, type ShownCondition } from '../operations/conditions.ts';
import { gatewayProcess } from '../spool/data-folder.ts';
import { isServed } from '../spool/locks.ts';
import type { ShopHealth } from '../spool/shop-health.ts';
import type { EntryCount } from '../spool/spool.ts';
import { paintFor, STATE_COLOURS } from './cell.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import {
  type KnownConditions,
  knownConditions,
  knownShops,
  type KnownShop,
  requireAnswer,
} from './known-state.ts';
import { shopJson } from './list-shops.ts';
import { withSpool } from './open-spool.ts';
import { iso } from './queue-entry.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

export interface StatusOptions {
  readonly json?: true;
}

/** The states of entries that wait for delivery or for an operator. */
const SHOWN = ['queued', 'delivering', 'dead', 'held'] as const;

/**
 * `status`: whether the gateway runs, what waits, and what is wrong.
 * @throws {CommandFailed} it does not run or answer, refuses new messages, or deliveries of a shop are stopped
 */
export async function showStatus(
  options: StatusOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const { dataDir } = open.config;
    const served = isServed(dataDir);
    const pid = served ? gatewayProcess(dataDir) : undefined;
    const [counts, shops] = [await open.spool.counts(), await knownShops(open)];
    const known = await knownConditions(open, shops, counts);
    const { conditions, unasked } = known;
    const isPaused = conditions.some(({ kind }) => kind === 'paused');
    const stopped = conditions
      .filter(({ kind, part }) => kind === 'breaker-open' && part === 'messages')
      .map(({ shop }) => shop);
    if (options.json) {
      terminal.out(
        document({
          ...{ gatewayRuns: served, ...(pid !== undefined && { pid }), paused: isPaused },
          ...(unasked && { answers: false }),
          ...{ queue: Object.fromEntries(SHOWN.map((state) => [state, sum(counts, state)])) },
          shops: shops.map((shop) => shopJson(shop, served)),
          conditions: conditions.map(conditionJson),
        }),
      );
    } else {
      terminal.out(lines({ served, unasked, pid, counts, shops, conditions }, terminal));
    }
    if (!served) throw new CommandFailed('no gateway is running on this data folder');
    requireAnswer(dataDir, known);
    if (stopped.length > 0) {
      throw new CommandFailed(`deliveries are stopped: ${stopped.join(', ')}`);
    }
    if (conditions.some(({ stopsIntake }) => stopsIntake)) {
      throw new CommandFailed('new messages are refused');
    }
  });
}

interface Found {
  readonly served: boolean;
  readonly unasked: KnownConditions['unasked'];
  readonly pid: number | undefined;
  readonly counts: readonly EntryCount[];
  readonly shops: readonly KnownShop[];
  readonly conditions: readonly ShownCondition[];
}

const conditionJson = ({ since, ...condition }: ShownCondition): object => ({
  ...condition,
  ...(since !== undefined && { since: iso(since) }),
});

function lines(found: Found, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const { served, unasked, pid } = found;
  const process = pid === undefined ? '' : ` (process ${pid})`;
  const runs =
    unasked === undefined
      ? paint(`runs${process}`, 'green')
      : unasked.kind === 'absent'
        ? paint(`runs${process} and takes no commands; this is what is stored`, 'yellow')
        : paint(`does not answer${process}; this is what is stored`, 'red');
  const rows: (readonly [string, string])[] = [
    [
      'gateway',
      served
        ? runs
        : `${paint('does not run', 'red')}; this is the state at the end of the last run`,
    ],
    ['queue', queueWords(found.counts, paint)],
    ...conditionRows(found, paint),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, words]) => `${printableLine(name).padEnd(width)}  ${words}\n`).join('');
}

type Paint = ReturnType<typeof paintFor>;

function queueWords(counts: readonly EntryCount[], paint: Paint): string {
  const parts = SHOWN.flatMap((state) => {
    const count = sum(counts, state);
    return count === 0 ? [] : [paint(`${count} ${state}`, STATE_COLOURS[state])];
  });
  if (parts.length === 0) return paint('nothing waits', 'green');
  const queued = counts.filter(({ state }) => state === 'queued').map(({ oldestAt }) => oldestAt);
  const oldest =
    queued.length === 0 ? [] : [`the oldest for ${shortSpan(Date.now() - Math.min(...queued))}`];
  return [...parts, ...oldest].join(', ');
}

/** The conditions, and of the shops of which nothing is stopped that their messages flow. */
function conditionRows(
  { shops, conditions, served }: Found,
  paint: Paint,
): (readonly [string, string])[] {
  const ofShops = shops.flatMap(({ name, health }): (readonly [string, string])[] => {
    const own = conditions.filter(({ shop }) => shop === name);
    const flows = health === undefined ? 'not known yet' : paint('messages flow', 'green');
    const isStopped =
      own.some(({ part }) => part !== undefined) ||
      conditions.some(({ kind, stopsIntake }) => kind === 'paused' || stopsIntake);
    return [
      ...own.map((each) => [name, conditionWords(each, health, served, paint)] as const),
      ...(isStopped ? [] : [[name, flows] as const]),
    ];
  });
  const others = conditions
    .filter(({ shop }) => !shops.some(({ name }) => name === shop))
    .map(
      (each) => [each.shop ?? 'gateway', conditionWords(each, undefined, served, paint)] as const,
    );
  return [...others, ...ofShops];
}

function conditionWords(
  condition: ShownCondition,
  health: ShopHealth | undefined,
  served: boolean,
  paint: Paint,
): string {
  const { kind, part, severity, remedy } = condition;
  const at = kind === 'breaker-open' && part && served ? health?.[part].nextProbeAt : undefined;
  const now = Date.now();
  const next =
    at === undefined ? '' : `; next try ${at <= now ? 'now' : `in ${shortSpan(at - now)}`}`;
  const words = printableLine(`${datedSentence(condition)}${next}`);
  return `${paint(words, severity === 'critical' ? 'red' : 'yellow')}. ${printableLine(remedy)}`;
}

const sum = (counts: readonly EntryCount[], state: string): number =>
  counts.reduce((total, each) => total + (each.state === state ? each.count : 0), 0);
