import type { Command } from 'commander';
import type { Message } from '../../platform-api/resources.ts';
import type { ListMessagesQuery } from '../../platform-api/schemas.ts';
import type { Colour } from '../cell.ts';
import type { Column } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { details, registerGet, registerList, SAMPLE_ID } from './resource-command.ts';
import { type Listing, field, type FilterFields, withFields } from './request-fields.ts';
import { registerMessageCreate } from './message-create.ts';
import { localTime, uuid, uuids } from './values.ts';

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

const MESSAGES: Listing<ListMessagesQuery, Message> = {
  plural: 'messages',
  example: `--conversation ${SAMPLE_ID} --all`,
  columns: COLUMNS,
  filters: {
    conversation_id: field('--conversation <uuid,...>', 'of any of these conversations', uuids),
    ticket_id: field('--ticket <uuid>', 'of this ticket', uuid),
  } satisfies FilterFields<ListMessagesQuery>,
  pages: (client, query) => client.messagePages(query),
};

/** API §4.5, §4.6, §4.7 */
export function registerMessages(parent: Command, terminal: Terminal): void {
  const messages = parent.command('messages').description('lists, shows and creates messages');
  messages.addHelpText('after', '\nExample:\n  $ sluice platform messages list --limit 10');

  registerList(withFields(messages.command('list'), MESSAGES.filters), terminal, MESSAGES);
  registerGet(messages, terminal, {
    noun: 'message',
    get: (client, id) => client.getMessage(id),
    text: ({ content, text, ...fields }) => details(fields, text ?? content),
  });
  registerMessageCreate(messages, terminal);
}
