import type { Command } from 'commander';
import { type Listing, type ListOptions, PAGING, withFields } from './request-fields.ts';
import { httpUrl, timeout, uuid, localTime } from './values.ts';
import type { PlatformClient } from '../../platform-api/client.ts';
import { type Terminal, printable } from '../terminal.ts';
import { document } from '../json.ts';

/** The options that every command has. */
export function withConnection(command: Command): Command {
  return command
    .option('--shop <name>', 'the shop of the configuration (default: the only one)')
    .option('--url <url>', "the platform's base URL (default: as configured)", httpUrl)
    .option(
      '--timeout <duration>',
      'how long to wait for a response (default: as configured)',
      timeout,
    );
}

/** Adds what every list has to the command `list` with its filters. */
export function registerList<Query extends object, Item>(
  command: Command,
  terminal: Terminal,
  listing: Listing<Query, Item>,
): void {
  const { plural, example } = listing;
  withConnection(
    withFields(command, PAGING)
      .option('--all', 'follows the pages to the last one')
      .option(
        '--json',
        'for programs: the page as the API returns it; with --all one result per line',
      ),
  )
    .description(`lists ${plural}`)
    .addHelpText('after', `\nExample:\n  $ sluice platform ${plural} list ${example}`)
    .action(async (options: ListOptions, command: Command) => {
      const { list } = await import('./list.ts');
      await list(listing, options, command, terminal);
    });
}

export const SAMPLE_ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';

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
    .option('--json', 'for programs: the object as the API returns it')
    .addHelpText('after', `\nExample:\n  $ sluice platform ${parent.name()} get ${SAMPLE_ID}`)
    .action(async (id: string, options: { json?: true }, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      await onPlatform(command, terminal, async ({ client }) => {
        const item = await kind.get(client, id);
        terminal.out(options.json ? document(item) : (kind.text ?? details)(item));
      });
    });
}

/**
 * A resource for people: one line per field under the API's name, without absent fields, with times
 * in local time, followed by the text of `body`.
 */
export function details(resource: object, body?: string): string {
  const fields = Object.entries(resource).filter(([, value]) => value !== undefined);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}  ${shown(name, value)}\n`);
  const text = body === undefined || body === '' ? '' : `\n${body.trimEnd()}\n`;
  return printable(lines.join('') + text);
}

function shown(name: string, value: unknown): string {
  if (value === null || value === '') return '-';
  if (typeof value !== 'string') return JSON.stringify(value);
  return name.endsWith('_at') ? localTime(value) : value.replace(/\s+/g, ' ');
}
