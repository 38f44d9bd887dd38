import type { Command } from 'commander';
import { cursorOf } from '../../platform-api/addresses.ts';
import type { Page } from '../../platform-api/resources.ts';
import { document, jsonLine } from '../json.ts';
import { quote } from '../quote.ts';
import { Table } from '../table.ts';
import { note, printable, type Terminal } from '../terminal.ts';
import { onPlatform } from './connection.ts';
import { type Listing, type ListOptions, optionsOf, PAGING, queryOf } from './request-fields.ts';

/** Prints a page of a list, or all pages as they arrive. */
export async function list<Query extends object, Item>(
  listing: Listing<Query, Item>,
  options: ListOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const filters = listing.query?.(options) ?? queryOf(listing.filters, options);
  // These are the fields of the list's query.
  const query = { ...filters, ...queryOf(PAGING, options) } as Query;
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
    optionsOf({ ...listing.filters, ...PAGING }),
  );
}

function json<Item>({ all }: ListOptions, terminal: Terminal): (page: Page<Item>) => void {
  if (!all) return (page) => terminal.out(document(page));
  return ({ results }) => terminal.out(results.map((item) => jsonLine(item)).join(''));
}

function rows<Query, Item>(
  { plural, columns }: Listing<Query, Item>,
  { all }: ListOptions,
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
      note(terminal, `For more: --cursor ${word(further)}, or --all\n`);
  };
}

/** Text from the platform, quoted for a command line. */
const word = (text: string): string => quote(printable(text.replace(/\s/g, '\u{fffd}')));
