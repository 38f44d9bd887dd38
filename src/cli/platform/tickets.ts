import { document } from '../json.ts';
import type { Command } from 'commander';
import type { Ticket } from '../../platform-api/resources.ts';
import type { ListTicketsQuery, TicketFilters } from '../../platform-api/schemas.ts';
import type { Colour } from '../cell.ts';
import type { Column } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { registerGet, registerList, withConnection } from './resource-command.ts';
import {
  type Listing,
  field,
  optionsOf,
  queryOf,
  type FilterFields,
  withFields,
} from './request-fields.ts';
import {
  type CreatedOptions,
  createdRange,
  endOf,
  instant,
  localTime,
  integers,
  uuid,
  uuids,
} from './values.ts';

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  New: 'cyan',
  Open: 'yellow',
  WaitingUser: 'red',
  WaitingContact: 'green',
  Completed: 'dim',
  Archived: 'dim',
};

const COLUMNS: readonly Column<Ticket>[] = [
  { head: 'number', min: 6, value: ({ number }) => number },
  {
    head: 'status',
    min: 14,
    value: ({ status }) => status,
    colour: (text) => STATUS_COLOURS[text],
  },
  { head: 'priority', min: 8, drop: 2, value: ({ priority }) => priority },
  { head: 'name', min: 12, max: 60, value: ({ name }) => name },
  {
    head: 'last message',
    min: 16,
    drop: 1,
    value: ({ last_message_at, created_at }) => localTime(last_message_at ?? created_at),
  },
  { head: 'id', min: 36, value: ({ id }) => id },
];

/** The API's filters, which are the same for lists and counts. */
const FILTERS: FilterFields<TicketFilters> = {
  id: field('--id <uuid>', 'only this ticket', uuid),
  agent_id: field('--agent <uuid>', 'assigned to this agent', uuid),
  assignee_id: field('--assignee <uuid>', 'assigned to this teammate', uuid),
  conversation_id: field(
    '--conversation <uuid,...>',
    'linked to any of these conversations',
    uuids,
  ),
  label_id: field('--label <uuid>', 'with this label', uuid),
  priority: field('--priority <number,...>', 'with any of these priority numbers', integers),
  created_at__range: field(
    '--created <range>',
    'the time of creation: 7d, relative:-7d, or two times with a comma',
  ),
};

const withFilters = (command: Command): Command =>
  withFields(command, FILTERS)
    .option('--created-from <time>', 'created since this day or time (local)', instant)
    .option('--created-to <time>', 'created until this day or time (default: now)', endOf);

const filters = (options: CreatedOptions): TicketFilters =>
  queryOf(FILTERS, { ...options, created: createdRange(options, Date.now()) });

const TICKETS: Listing<ListTicketsQuery, Ticket> = {
  plural: 'tickets',
  example: '--priority 1,2 --created 7d --all --json',
  columns: COLUMNS,
  filters: FILTERS,
  query: filters,
  pages: (client, query) => client.ticketPages(query),
};

/** API §4.2, §4.3, §4.4 */
export function registerTickets(parent: Command, terminal: Terminal): void {
  const tickets = parent.command('tickets').description('lists, shows and counts tickets');
  tickets.addHelpText('after', '\nExample:\n  $ sluice platform tickets list --priority 1,2');

  registerList(withFilters(tickets.command('list')), terminal, TICKETS);
  registerGet(tickets, terminal, { noun: 'ticket', get: (client, id) => client.getTicket(id) });

  withConnection(withFilters(tickets.command('count')))
    .description('counts the tickets that match')
    .option('--json', 'for programs: the object as the API returns it')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform tickets count --created-from 2026-04-01 --created-to 2026-04-15',
    )
    .action(async (options: CreatedOptions & { json?: true }, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      const query = filters(options);
      const show = async (count: Promise<number>) =>
        terminal.out(options.json ? document({ count: await count }) : `${await count}\n`);
      await onPlatform(
        command,
        terminal,
        ({ client }) => show(client.countTickets(query)),
        optionsOf(FILTERS),
      );
    });
}
