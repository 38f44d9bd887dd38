import type { Command } from 'commander';
import type { PlatformClient } from '../../platform-api/client.ts';
import { cursorOf, type Page } from '../../platform-api/resources.ts';
import type { Column } from '../table.ts';
import { withConnection } from './connection-options.ts';
import { pageSize } from './values.ts';

export interface Paging {
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

/** A link of the page envelope (API §2.6) names the cursor too. */
function cursor(value: string): string {
  return /[/?]/.test(value) ? (cursorOf(value) ?? value) : value;
}
