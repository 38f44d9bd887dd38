import type { Command } from 'commander';
import type { ShopsOptions } from './list-shops.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

export function registerShops(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  const shops = parent
    .command('shops')
    .description('lists whether the platform of each shop accepts messages, and why not')
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice shops\n  $ sluice shops try acme')
    .action(async (options: ShopsOptions, command: Command) => {
      const { listShops } = await import('./list-shops.ts');
      await listShops(options, command, terminal);
    });
  shops
    .command('try')
    .description('submits one waiting message of a shop now and prints the result')
    .argument('<shop>', 'its configured name, or its id')
    .option('--json', 'for programs: a JSON object')
    .addHelpText(
      'after',
      '\nThe running gateway does it. Where messages flow, all that wait for their next attempt are\nsent now.\n' +
        '\nExample:\n  $ sluice shops try acme',
    )
    .action(async (name: string, _options: ShopsOptions, command: Command) => {
      const { tryShopNow } = await import('./try-shop-now.ts');
      // The option is the parent's too, which would take it.
      await tryShopNow(name, command.optsWithGlobals<ShopsOptions>(), command, terminal, events);
    });
}
