import type { Command } from 'commander';
import type { Contact } from '../../platform-api/resources.ts';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import type { Terminal } from '../terminal.ts';
import { registerGet, registerList } from './resource-command.ts';
import { type Listing, field, type FilterFields, withFields } from './request-fields.ts';
import type { Column } from '../table.ts';
import { localTime, bool, uuids, words } from './values.ts';

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

const CONTACTS: Listing<ListContactsQuery, Contact> = {
  plural: 'contacts',
  example: '--archived false --top-level true --limit 20',
  columns: COLUMNS,
  filters: {
    id: field('--id <uuid,...>', 'only contacts with these ids', uuids),
    email: field('--email <address>', 'with this address'),
    phone: field('--phone <number>', 'with this phone number'),
    is_archived: field(
      '--archived <true|false>',
      'only archived (true) or active (false) contacts',
      bool,
    ),
    parent_contact_id: field('--parent <uuid,...>', 'children of any of these contacts', uuids),
    parent_contact_id__isnull: field(
      '--top-level <true|false>',
      'only top-level (true) or child (false) contacts',
      bool,
    ),
    remote_platform: field(
      '--remote-platform <name,...>',
      'from any of these external platforms',
      words,
    ),
  } satisfies FilterFields<ListContactsQuery>,
  pages: (client, query) => client.contactPages(query),
};

/** API §4.10, §4.11 */
export function registerContacts(parent: Command, terminal: Terminal): void {
  const contacts = parent.command('contacts').description('lists and shows contacts');
  contacts.addHelpText(
    'after',
    '\nExample:\n  $ sluice platform contacts list --email ann@example.com',
  );

  registerList(withFields(contacts.command('list'), CONTACTS.filters), terminal, CONTACTS);
  registerGet(contacts, terminal, { noun: 'contact', get: (client, id) => client.getContact(id) });
}
