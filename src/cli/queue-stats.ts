import { Option, type Command } from 'commander';
import { CHANNELS } from '../domain/channel.ts';
import type { StatsOptions } from './count-entries.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';
import { interval } from './time-argument.ts';

export function registerQueueStats(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  parent
    .command('stats')
    .description('counts entries that are not delivered, by shop, channel, state and age')
    .addOption(new Option('--channel <channel>', 'only this channel').choices(CHANNELS))
    .option('--shop <name>', 'only this shop')
    .addOption(new Option('--json', 'for programs: a JSON array').conflicts('watch'))
    .option('--watch', 'shows it again and again; q or Ctrl-C ends it')
    .addOption(
      new Option('--every <duration>', 'how often --watch looks')
        .argParser(interval)
        .default(2000, '2s'),
    )
    .addHelpText(
      'after',
      '\nAges are counted from the reception. Oldest: its age. Due: when the next may be tried.\n\n' +
        'Example:\n  $ sluice queue stats --watch',
    )
    .action(async (options: StatsOptions, command: Command) => {
      const { countEntries } = await import('./count-entries.ts');
      await countEntries(options, command, terminal, events);
    });
}
