import type { Command } from 'commander';
import { explainStop } from '../domain/reason-explanations.ts';
import { sentence } from '../domain/reasons.ts';
import { minuteInWords } from '../runtime/amounts.ts';
import { gatewayProcess } from '../spool/data-folder.ts';
import { isServed } from '../spool/locks.ts';
import type { EndpointHealth } from '../spool/shop-health.ts';
import type { EntryCount } from '../spool/spool.ts';
import { paintFor, STATE_COLOURS } from './cell.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { ENDPOINT_WORDS, knownShops, type KnownShop, shopJson, stateWords } from './list-shops.ts';
import { type OpenSpool, withSpool } from './open-spool.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

export interface StatusOptions {
  readonly json?: true;
}

/** The states of entries that wait for delivery or for an operator. */
const SHOWN = ['queued', 'delivering', 'dead', 'held'] as const;

/**
 * `status`: whether the gateway runs, what waits, and what each shop's platform does.
 * @throws {CommandFailed} it does not run, or deliveries of a shop are stopped
 */
export async function showStatus(
  options: StatusOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const { dataDir, delivery } = open.config;
    const served = isServed(dataDir);
    const pid = served ? gatewayProcess(dataDir) : undefined;
    const [counts, shops] = [await open.spool.counts(), await knownShops(open)];
    const stopped = shops.filter(({ health }) => health?.messages.state === 'open');
    if (options.json) {
      terminal.out(
        document({
          ...{ gatewayRuns: served, ...(pid !== undefined && { pid }), paused: delivery.paused },
          ...{ queue: Object.fromEntries(SHOWN.map((state) => [state, sum(counts, state)])) },
          shops: shops.map((shop) => shopJson(shop, served)),
        }),
      );
    } else {
      terminal.out(lines(open, { served, pid, counts, shops }, terminal));
    }
    if (!served) throw new CommandFailed('no gateway is running on this data folder');
    if (stopped.length > 0) {
      const names = stopped.map(({ name }) => name).join(', ');
      throw new CommandFailed(`deliveries are stopped: ${names}`);
    }
  });
}

interface Found {
  readonly served: boolean;
  readonly pid: number | undefined;
  readonly counts: readonly EntryCount[];
  readonly shops: readonly KnownShop[];
}

function lines(open: OpenSpool, found: Found, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const { served, pid, shops } = found;
  const process = pid === undefined ? '' : ` (process ${pid})`;
  const rows: (readonly [string, string])[] = [
    [
      'gateway',
      served
        ? paint(`runs${process}`, 'green')
        : `${paint('does not run', 'red')}; this is the state at the end of the last run`,
    ],
    ...(open.config.delivery.paused
      ? [['delivery', paint('paused (delivery.paused)', 'yellow')] as const]
      : []),
    ['queue', queueWords(found.counts, paint)],
    ...shops.flatMap((shop) => shopRows(shop, served, paint)),
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

function shopRows(
  { name, health }: KnownShop,
  served: boolean,
  paint: Paint,
): (readonly [string, string])[] {
  if (health === undefined) return [[name, 'not known yet']];
  const troubled = (['messages', 'media'] as const).filter(
    (part) => health[part].state !== 'steady',
  );
  if (troubled.length === 0) return [[name, paint('messages flow', 'green')]];
  return troubled.map((part) => [name, partWords(part, health[part], served, paint)] as const);
}

function partWords(
  part: 'messages' | 'media',
  health: EndpointHealth,
  served: boolean,
  paint: Paint,
): string {
  const { state, reason, since, nextProbeAt } = health;
  const stop = reason && explainStop(reason);
  const words = [
    part === 'media' ? `${ENDPOINT_WORDS.media}: ` : '',
    stop?.cause ?? (reason === undefined ? stateWords(health, served) : sentence(reason)),
    state === 'doubted' ? ' for some messages' : '',
    since === undefined ? '' : ` since ${minuteInWords(since)}`,
    served && nextProbeAt !== undefined
      ? `; next try ${nextProbeAt <= Date.now() ? 'now' : `in ${shortSpan(nextProbeAt - Date.now())}`}`
      : '',
  ].join('');
  const todo = stop === undefined ? '' : ` ${stop.todo}`;
  return `${paint(printableLine(words), state === 'open' ? 'red' : 'yellow')}.${todo}`;
}

const sum = (counts: readonly EntryCount[], state: string): number =>
  counts.reduce((total, each) => total + (each.state === state ? each.count : 0), 0);
