import type { Command } from 'commander';
import type { Contact } from '../../platform-api/resources.ts';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import type { Terminal } from '../terminal.ts';
import {
  oneOrSeveral,
  registerGet,
  type Listing,
  type PagingOptions,
  withPaging,
} from './resource-command.ts';
import type { Column } from '../table.ts';
import { localTime, bool, uuids, words } from './values.ts';

interface ListOptions extends PagingOptions {
  readonly id?: readonly string[];
  readonly email?: string;
  readonly phone?: string;
  readonly archived?: boolean;
  readonly parent?: readonly string[];
  readonly topLevel?: boolean;
  readonly remotePlatform?: readonly string[];
}

const COLUMNS: readonly Column<Contact>[] = [
  { head: 'name', min: 12, max: 40, value: ({ name, display_name }) => name ?? display_name },
  { head: 'email', min: 16, max: 40, value: ({ email }) => email },
  { head: 'phone', min: 16, drop: 1, value: ({ phone }) => phone },
  {
    head: 'last activity',
    min: 16,
    drop: 2,
    value: ({ last_activity_at }) => localTime(last_activity_at),
  },
  { head: 'id', min: 36, value: ({ id }) => id },
];

const CONTACTS: Listing<ListOptions, ListContactsQuery, Contact> = {
  plural: 'contacts',
  columns: COLUMNS,
  query: ({ id, email, phone, archived, parent, topLevel, remotePlatform }) => ({
    ...oneOrSeveral('id', id),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(archived !== undefined && { is_archived: archived }),
    ...oneOrSeveral('parent_contact_id', parent),
    ...(topLevel !== undefined && { parent_contact_id__isnull: topLevel }),
    ...oneOrSeveral('remote_platform', remotePlatform),
  }),
  pages: (client, query) => client.contactPages(query),
  optionOf: {
    id: '--id',
    id__in: '--id',
    email: '--email',
    phone: '--phone',
    is_archived: '--archived',
    parent_contact_id: '--parent',
    parent_contact_id__in: '--parent',
    parent_contact_id__isnull: '--top-level',
    remote_platform: '--remote-platform',
    remote_platform__in: '--remote-platform',
    limit: '--limit',
    cursor: '--cursor',
  },
};

/** API §4.10, §4.11 */
export function registerContacts(parent: Command, terminal: Terminal): void {
  const contacts = parent.command('contacts').description('lists and shows contacts');
  contacts.addHelpText(
    'after',
    '\nExample:\n  $ sluice platform contacts list --email ann@example.com',
  );

  withPaging(contacts.command('list'))
    .description('lists contacts')
    .option('--id <uuid,...>', 'only contacts with these ids', uuids)
    .option('--email <address>', 'with this address')
    .option('--phone <number>', 'with this phone number')
    .option('--archived <true|false>', 'only archived (true) or active (false) contacts', bool)
    .option('--parent <uuid,...>', 'children of any of these contacts', uuids)
    .option('--top-level <true|false>', 'only top-level (true) or child (false) contacts', bool)
    .option('--remote-platform <name,...>', 'from any of these external platforms', words)
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform contacts list --archived false --top-level true --limit 20',
    )
    .action(async (options: ListOptions, command: Command) => {
      const { list } = await import('./list.ts');
      await list(CONTACTS, options, command, terminal);
    });

  registerGet(contacts, terminal, { noun: 'contact', get: (client, id) => client.getContact(id) });
}
