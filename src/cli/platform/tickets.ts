import type { Command } from 'commander';
import type { Ticket } from '../../platform-api/resources.ts';
import type { ListTicketsQuery, TicketFilters } from '../../platform-api/schemas.ts';
import type { Colour } from '../cell.ts';
import type { Column } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import {
  withConnection,
  document,
  oneOrSeveral,
  registerGet,
  type Listing,
  type PagingOptions,
  withPaging,
} from './resource-command.ts';
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

interface FilterOptions extends CreatedOptions {
  readonly id?: string;
  readonly agent?: string;
  readonly assignee?: string;
  readonly conversation?: readonly string[];
  readonly label?: string;
  readonly priority?: readonly number[];
}

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

const OPTION_OF = {
  id: '--id',
  agent_id: '--agent',
  assignee_id: '--assignee',
  conversation_id: '--conversation',
  conversation_id__in: '--conversation',
  label_id: '--label',
  priority: '--priority',
  priority__in: '--priority',
  created_at__range: '--created',
  limit: '--limit',
  cursor: '--cursor',
};

const TICKETS: Listing<FilterOptions & PagingOptions, ListTicketsQuery, Ticket> = {
  plural: 'tickets',
  columns: COLUMNS,
  query: filters,
  pages: (client, query) => client.ticketPages(query),
  optionOf: OPTION_OF,
};

/** API §4.2, §4.3, §4.4 */
export function registerTickets(parent: Command, terminal: Terminal): void {
  const tickets = parent.command('tickets').description('lists, shows and counts tickets');
  tickets.addHelpText('after', '\nExample:\n  $ sluice platform tickets list --priority 1,2');

  withPaging(withFilters(tickets.command('list')))
    .description('lists tickets')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform tickets list --priority 1,2 --created 7d --all --json',
    )
    .action(async (options: FilterOptions & PagingOptions, command: Command) => {
      const { list } = await import('./list.ts');
      await list(TICKETS, options, command, terminal);
    });

  registerGet(tickets, terminal, { noun: 'ticket', get: (client, id) => client.getTicket(id) });

  withConnection(withFilters(tickets.command('count')))
    .description('counts the tickets that match')
    .option('--json', 'for programs: the object as the API gives it')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform tickets count --created-from 2026-04-01 --created-to 2026-04-15',
    )
    .action(async (options: FilterOptions & { json?: true }, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      const query = filters(options);
      const show = async (count: Promise<number>) =>
        terminal.out(options.json ? document({ count: await count }) : `${await count}\n`);
      await onPlatform(
        command,
        terminal,
        ({ client }) => show(client.countTickets(query)),
        OPTION_OF,
      );
    });
}

/**
 * The API's filters, which are the same for lists and counts. Several values are separated by
 * commas.
 */
function withFilters(command: Command): Command {
  return command
    .option('--id <uuid>', 'only this ticket', uuid)
    .option('--agent <uuid>', 'assigned to this agent', uuid)
    .option('--assignee <uuid>', 'assigned to this teammate', uuid)
    .option('--conversation <uuid,...>', 'linked to any of these conversations', uuids)
    .option('--label <uuid>', 'with this label', uuid)
    .option('--priority <number,...>', 'with any of these priority numbers', integers)
    .option('--created <range>', 'created in it: 7d, relative:-7d, or two times with a comma')
    .option('--created-from <time>', 'the same as a start; a day or a time, local', instant)
    .option('--created-to <time>', 'and an end (default: now)', endOf);
}

function filters(options: FilterOptions): TicketFilters {
  const { id, agent, assignee, conversation, label, priority } = options;
  const range = createdRange(options, Date.now());
  return {
    ...(id !== undefined && { id }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(assignee !== undefined && { assignee_id: assignee }),
    ...oneOrSeveral('conversation_id', conversation),
    ...(label !== undefined && { label_id: label }),
    ...oneOrSeveral('priority', priority),
    ...(range !== undefined && { created_at__range: range }),
  };
}
