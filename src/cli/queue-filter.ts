import { Option, type Command } from 'commander';
import { ENTRY_STATES, type EntryState } from '../domain/entry-state.ts';
import type { EntrySearch } from '../spool/entry-index.ts';
import { CHANNELS, type Channel } from '../domain/channel.ts';
import type { OpenSpool } from './open-spool.ts';
import { moment, type Moment } from './time-argument.ts';

/** Selects the entries of a command; the console has the same filters. */
export interface FilterOptions {
  readonly state?: readonly EntryState[];
  readonly channel?: Channel;
  readonly shop?: string;
  readonly reason?: string;
  readonly since?: Moment;
  readonly until?: Moment;
}

export type Filter = Omit<EntrySearch, 'before' | 'limit'>;

export function withFilters(command: Command): Command {
  return command
    .addOption(new Option('--state <state...>', 'only these states').choices(ENTRY_STATES))
    .addOption(new Option('--channel <channel>', 'only this channel').choices(CHANNELS))
    .option('--shop <name>', 'only this shop')
    .option('--reason <text>', 'only entries whose reason, its code or its words, begins with this')
    .option('--since <when>', 'received since: 2h, 7d ago, or a time (UTC)', moment)
    .option('--until <when>', 'received before: 2h, 7d ago, or a time (UTC)', moment);
}

/** @throws {UsageError} the shop does not exist */
export function filterOf(
  open: Pick<OpenSpool, 'shopId'>,
  options: FilterOptions,
  words: readonly string[] = [],
  now: number = Date.now(),
): Filter {
  const { state, channel, shop, reason, since, until } = options;
  const text = words.join(' ').trim();
  return {
    ...(text !== '' && { text }),
    ...(shop !== undefined && { shopId: open.shopId(shop) }),
    ...(channel !== undefined && { channel }),
    ...(state !== undefined && { states: state }),
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { from: since(now) }),
    ...(until !== undefined && { to: until(now) }),
  };
}
