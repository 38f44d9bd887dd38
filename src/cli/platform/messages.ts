import type { Command } from 'commander';
import type { Message } from '../../platform-api/resources.ts';
import type { ListMessagesQuery } from '../../platform-api/schemas.ts';
import type { Colour } from '../cell.ts';
import type { Column } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import {
  details,
  oneOrSeveral,
  registerGet,
  type Listing,
  type PagingOptions,
  withPaging,
} from './resource-command.ts';
import { registerMessageCreate } from './message-create.ts';
import { localTime, uuid, uuids } from './values.ts';

interface ListOptions extends PagingOptions {
  readonly conversation?: readonly string[];
  readonly ticket?: string;
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  PENDING: 'yellow',
  DELIVERED: 'green',
  FAILED: 'red',
  HIDDEN: 'dim',
};

const COLUMNS: readonly Column<Message>[] = [
  {
    head: 'created',
    min: 16,
    drop: 1,
    value: ({ created_at, updated_at }) => localTime(created_at ?? updated_at),
  },
  { head: 'role', min: 8, value: ({ role }) => role },
  {
    head: 'status',
    min: 9,
    drop: 2,
    value: ({ status }) => status,
    colour: (text) => STATUS_COLOURS[text],
  },
  { head: 'text', min: 16, max: 100, value: ({ text, content }) => text ?? content },
  { head: 'id', min: 36, value: ({ id }) => id },
];

const MESSAGES: Listing<ListOptions, ListMessagesQuery, Message> = {
  plural: 'messages',
  columns: COLUMNS,
  query: ({ conversation, ticket }) => ({
    ...oneOrSeveral('conversation_id', conversation),
    ...(ticket !== undefined && { ticket_id: ticket }),
  }),
  pages: (client, query) => client.messagePages(query),
  optionOf: {
    conversation_id: '--conversation',
    conversation_id__in: '--conversation',
    ticket_id: '--ticket',
    limit: '--limit',
    cursor: '--cursor',
  },
};

/** API §4.5, §4.6, §4.7 */
export function registerMessages(parent: Command, terminal: Terminal): void {
  const messages = parent.command('messages').description('lists, shows and creates messages');
  messages.addHelpText('after', '\nExample:\n  $ sluice platform messages list --limit 10');

  withPaging(messages.command('list'))
    .description('lists messages')
    .option('--conversation <uuid,...>', 'of any of these conversations', uuids)
    .option('--ticket <uuid>', 'of this ticket', uuid)
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform messages list --conversation 0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11 --all',
    )
    .action(async (options: ListOptions, command: Command) => {
      const { list } = await import('./list.ts');
      await list(MESSAGES, options, command, terminal);
    });

  registerGet(messages, terminal, {
    noun: 'message',
    get: (client, id) => client.getMessage(id),
    text: ({ content, text, ...fields }) => details(fields, text ?? content),
  });
  registerMessageCreate(messages, terminal);
}
