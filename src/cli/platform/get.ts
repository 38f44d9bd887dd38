import type { Command } from 'commander';
import type { PlatformClient } from '../../platform-api/client.ts';
import type { Terminal } from '../terminal.ts';
import { withConnection } from './connection-options.ts';
import { details, document } from './details.ts';
import { uuid } from './values.ts';

const SAMPLE_ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';

/** Adds `get <id>` for a kind of resource. */
export function registerGet<Item extends object>(
  parent: Command,
  terminal: Terminal,
  kind: {
    readonly noun: string;
    readonly get: (client: PlatformClient, id: string) => Promise<Item>;
    readonly text?: (item: Item) => string;
  },
): void {
  withConnection(parent.command('get'))
    .description(`prints a ${kind.noun} with all its fields; times are local`)
    .argument('<id>', `the ${kind.noun}'s id`, uuid)
    .option('--json', 'for programs: the object as the API gives it')
    .addHelpText('after', `\nExample:\n  $ sluice platform ${parent.name()} get ${SAMPLE_ID}`)
    .action(async (id: string, options: { json?: true }, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      await onPlatform(command, terminal, async ({ client }) => {
        const item = await kind.get(client, id);
        terminal.out(options.json ? document(item) : (kind.text ?? details)(item));
      });
    });
}
