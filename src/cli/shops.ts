import type { Command } from 'commander';
import type { ShopsOptions } from './list-shops.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

export function registerShops(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  const shops = parent
    .command('shops')
    .description("lists whether each shop's platform takes messages, and if not, why")
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice shops\n  $ sluice shops try acme')
    .action(async (options: ShopsOptions, command: Command) => {
      const { listShops } = await import('./list-shops.ts');
      await listShops(options, command, terminal);
    });
  shops
    .command('try')
    .description('has the running gateway try a shop at once, and says what came of it')
    .argument('<shop>', 'its configured name, or its id')
    .option('--json', 'for programs: a JSON object')
    .addHelpText(
      'after',
      '\nWhere messages flow, those that wait for their next attempt go at once.\n' +
        '\nExample:\n  $ sluice shops try acme',
    )
    .action(async (name: string, _options: ShopsOptions, command: Command) => {
      const { tryShopNow } = await import('./try-shop-now.ts');
      // The option is the parent's too, which would take it.
      await tryShopNow(name, command.optsWithGlobals<ShopsOptions>(), command, terminal, events);
    });
}
