import type { Command } from 'commander';
import { cursorOf } from '../../platform-api/addresses.ts';
import type { Page } from '../../platform-api/resources.ts';
import { jsonText } from '../json.ts';
import { quote } from '../quote.ts';
import { Table } from '../table.ts';
import { printable, type Terminal } from '../terminal.ts';
import { onPlatform } from './connection.ts';
import { document, type Listing, type Paging, type PagingOptions } from './resource-command.ts';

/** Prints a page of a list, or all pages as they arrive. */
export async function list<Options extends PagingOptions, Query extends object, Item>(
  listing: Listing<Options, Query, Item>,
  options: Options,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const paging: Paging = {
    ...(options.limit !== undefined && { limit: options.limit }),
    ...(options.cursor !== undefined && { cursor: options.cursor }),
  };
  const query = { ...listing.query(options), ...paging };
  // Otherwise all pages of a long list would be fetched after the reader has closed the pipe.
  terminal.exitOnClosedPipe?.();
  const show = options.json ? json(options, terminal) : rows(listing, options, terminal);
  await onPlatform(
    command,
    terminal,
    async ({ client }) => {
      for await (const page of listing.pages(client, query)) {
        show(page);
        if (!options.all) return;
      }
    },
    listing.optionOf,
  );
}

function json<Item>({ all }: PagingOptions, terminal: Terminal): (page: Page<Item>) => void {
  if (!all) return (page) => terminal.out(document(page));
  return ({ results }) => terminal.out(results.map((item) => `${jsonText(item)}\n`).join(''));
}

function rows<Options, Query, Item>(
  { plural, columns }: Listing<Options, Query, Item>,
  { all }: PagingOptions,
  terminal: Terminal,
): (page: Page<Item>) => void {
  const table = new Table(columns, terminal);
  let isEmpty = true;
  return ({ results, next }) => {
    if (results.length > 0) terminal.out(table.lines(results));
    else if (isEmpty && !next) terminal.out(`No ${plural}.\n`);
    isEmpty &&= results.length === 0;
    const further = cursorOf(next);
    if (!all && further !== undefined)
      terminal.err(`For more: --cursor ${word(further)}, or --all\n`);
  };
}

/** Text from the platform, quoted for a command line. */
const word = (text: string): string => quote(printable(text.replace(/\s/g, '\u{fffd}')));
