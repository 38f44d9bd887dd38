import type { Command } from 'commander';
import type { PlatformClient } from '../../platform-api/client.ts';
import { cursorOf } from '../../platform-api/pages.ts';
import type { Page } from '../../platform-api/resources.ts';
import { jsonText } from '../json.ts';
import { quote } from '../quote.ts';
import { printable, type Terminal } from '../terminal.ts';
import { onPlatform, withConnection } from './connection.ts';
import { document } from './details.ts';
import { type Column, Table } from '../table.ts';
import { pageSize } from './values.ts';

interface Paging {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface PagingOptions extends Paging {
  readonly all?: true;
  readonly json?: true;
}

/** One of the API's lists. */
export interface Listing<Options, Query, Item> {
  /** What there is none of: `tickets`. */
  readonly plural: string;
  readonly columns: readonly Column<Item>[];
  readonly query: (options: Options) => Query;
  readonly pages: (client: PlatformClient, query: Query & Paging) => AsyncIterable<Page<Item>>;
  readonly optionOf: Readonly<Record<string, string>>;
}

/** The options that every list has. */
export function withPaging(command: Command): Command {
  return withConnection(
    command
      .option('--limit <count>', 'results in a page (default: as the platform has it)', pageSize)
      .option(
        '--cursor <cursor>',
        'a page further on: a cursor, or the link in next or previous',
        cursor,
      )
      .option('--all', 'follows the pages to the last one')
      .option(
        '--json',
        'for programs: the page as the API gives it; with --all one result on each line',
      ),
  );
}

/** Prints a page of a list, or all of them as they come. */
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
  // All pages of a long list, for nobody.
  terminal.endWithReader?.();
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
    if (!all && further !== undefined) terminal.err(`More: --cursor ${word(further)}, or --all\n`);
  };
}

/** What the platform chose, to be copied into a command line. */
const word = (text: string): string => quote(printable(text.replace(/\s/g, '\u{fffd}')));

/** A link of the page envelope (API §2.6) names the cursor too. */
function cursor(value: string): string {
  return /[/?]/.test(value) ? (cursorOf(value) ?? value) : value;
}
