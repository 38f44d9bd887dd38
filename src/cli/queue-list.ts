import Table from 'cli-table3';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { nearest } from '../config/field.ts';
import { ENTRY_STATES, type Entry, type EntryState } from '../spool/entry.ts';
import { CHANNELS, type Channel } from '../types/channel.ts';
import { asEntryId } from '../types/ids.ts';
import { UsageError } from './exit-codes.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { entryJson, time } from './queue-entry.ts';
import { printable, type Terminal } from './terminal.ts';

interface ListOptions {
  readonly state?: readonly EntryState[];
  readonly channel?: Channel;
  readonly shop?: string;
  readonly before?: string;
  readonly limit: number;
  readonly json?: true;
}

const MAX_LIMIT = 1000;

export function registerQueueList(parent: Command, terminal: Terminal): void {
  parent
    .command('list')
    .description('lists entries, newest first')
    .addOption(new Option('--state <state...>', 'only these states').choices(ENTRY_STATES))
    .addOption(new Option('--channel <channel>', 'only this channel').choices(CHANNELS))
    .option('--shop <name>', 'only this shop')
    .option('--before <id>', 'only entries older than this one: the next page')
    .option('--limit <count>', `at most so many, up to ${MAX_LIMIT}`, limit, 50)
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice queue list --state dead held --channel email')
    .action(async (options: ListOptions, command: Command) => {
      await withSpool(command, terminal, async (open) => {
        const entries = await open.spool.list({
          limit: options.limit,
          ...(options.state && { states: options.state }),
          ...(options.channel && { channel: options.channel }),
          ...(options.before !== undefined && { before: asEntryId(options.before) }),
          ...(options.shop !== undefined && { shopId: shopId(open, options.shop) }),
        });
        terminal.out(options.json ? json(entries, open) : table(entries, open, options.limit));
      });
    });
}

function shopId(open: OpenSpool, name: string) {
  const found = open.shops.find((shop) => shop.name === name || shop.shopId === name);
  if (found !== undefined) return found.shopId;
  const names = open.shops.map((shop) => shop.name);
  const near = nearest(name, names);
  throw new UsageError(
    `there is no shop ${name}${near === undefined ? `; there are: ${names.join(', ')}` : `; did you mean ${near}?`}`,
  );
}

function json(entries: readonly Entry[], open: OpenSpool): string {
  const lines = entries.map((entry) => entryJson(entry, open.shopName(entry.shopId)));
  return `${JSON.stringify(lines, null, 2)}\n`;
}

function table(entries: readonly Entry[], open: OpenSpool, limit: number): string {
  if (entries.length === 0) return 'No entries.\n';
  const rows = new Table({
    head: ['id', 'received', 'shop', 'channel', 'state', 'tries', 'next or reason'],
    style: { head: [], border: [], compact: true },
  });
  for (const entry of entries) {
    rows.push([
      entry.id,
      time(entry.receivedAt),
      open.shopName(entry.shopId),
      entry.kind === 'event' ? `${entry.channel} event` : entry.channel,
      entry.state,
      entry.attempts,
      printable(remark(entry)).slice(0, 60),
    ]);
  }
  const last = entries.at(-1);
  const more =
    entries.length === limit && last !== undefined ? `Older ones: --before ${last.id}\n` : '';
  return `${rows.toString()}\n${more}`;
}

function remark(entry: Entry): string {
  const reason = entry.reason ?? '';
  if (entry.state !== 'queued' || entry.attempts === 0) return reason;
  return `${time(entry.nextAttemptAt)} ${reason}`;
}

function limit(value: string): number {
  const count = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > MAX_LIMIT) {
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_LIMIT}.`);
  }
  return count;
}
