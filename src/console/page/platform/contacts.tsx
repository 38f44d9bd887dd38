import { isDeskOnly } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { CopyFact } from '../ui/copy-button.tsx';
import { Form, Input, Select } from '../ui/field.tsx';
import { Card, TableCard } from '../ui/page-parts.tsx';
import { addressIn, personFilter } from './addresses.ts';
import { type ItemProps, type ListProps, PageFrame, usePlatformPages } from './page-frame.tsx';
import { type Contact, firstOf, nameOf, timeOf } from './resources.ts';
import { LinkedIdRow, TimeCell, TimeRow } from './facts.tsx';

const COLUMNS = ['Name', 'Email', 'Phone', 'Last activity'];

/** The contacts of a shop; the API finds one by its complete address or number (§4.10). */
export function ContactsView({ place, go }: ListProps) {
  const { shop, filters } = place;
  const pages = usePlatformPages(shop, 'contacts', { ...filters, limit: 50 });
  const isSearch = filters['email'] !== undefined || filters['phone'] !== undefined;
  return (
    <>
      <Form
        class="filter-fields platform-filters"
        onSubmit={(valueOf) => {
          const { email: _email, phone: _phone, ...rest } = filters;
          go({ filters: { ...rest, ...personFilter(valueOf('person').trim()) } });
        }}
      >
        <Input
          label="Email address or phone number"
          type="search"
          placeholder="Email address or phone number"
          name="person"
          maxLength={320}
          autocomplete="off"
          spellcheck={false}
          data-search
          defaultValue={filters['email'] ?? filters['phone'] ?? ''}
        />
        <Button type="submit" icon="search">
          Find
        </Button>
        <Select
          label="Archived"
          value={filters['is_archived'] ?? ''}
          options={[
            { value: '', label: 'Active and archived' },
            { value: 'false', label: 'Active' },
            { value: 'true', label: 'Archived' },
          ]}
          onChoose={(value) => go({ filters: { ...filters, is_archived: value } })}
        />
        {Object.keys(filters).length > 0 && (
          <Button look="quiet" icon="close" onClick={() => go({ filters: {} })}>
            Clear
          </Button>
        )}
      </Form>
      <PageFrame
        {...{ pages }}
        empty={
          isSearch
            ? {
                icon: 'search',
                title: 'No contact found',
                hint: 'Enter the complete email address, or the phone number with its country code (+1…).',
              }
            : {
                icon: 'person',
                title: 'No contacts yet',
                hint: 'The platform creates a contact from a person’s first message.',
              }
        }
        render={(contacts) => (
          <TableCard class="table-frame" columns={COLUMNS}>
            {contacts.map((contact) => (
              <Row key={contact.id} {...{ shop, contact }} />
            ))}
          </TableCard>
        )}
      />
    </>
  );
}

function Row({ shop, contact }: { readonly shop: string; readonly contact: Contact }) {
  const { id, email, phone } = contact;
  return (
    <tr>
      <td class="wide-cell">
        <a href={addressIn('contacts', shop, id)}>
          <bdi>{nameOf(contact)}</bdi>
        </a>
        {contact.is_archived && <span class="muted"> archived</span>}
      </td>
      <td class="break">{email ?? <span class="muted">–</span>}</td>
      <td class="nowrap">{phone ?? <span class="muted">–</span>}</td>
      <TimeCell at={timeOf(contact.last_activity_at)} />
    </tr>
  );
}

/** One contact, with a link to their messages. */
export function ContactItem({ shop, item: contact }: ItemProps<'contacts'>) {
  const wrote = firstOf(contact.email, contact.phone);
  return (
    <Card title="Contact">
      <p class="resource-name">
        <bdi>{nameOf(contact)}</bdi>
        {contact.is_archived && <span class="muted"> archived</span>}
      </p>
      <dl class="resource-facts">
        {(['name', 'company', 'email', 'phone'] as const).map((field) =>
          contact[field] ? (
            <CopyFact
              key={field}
              name={field}
              text={contact[field]}
              what={`the ${field}`}
              isProse
            />
          ) : null,
        )}
        <TimeRow name="Last activity" text={contact.last_activity_at} />
        <TimeRow name="Created" text={contact.created_at} />
        <LinkedIdRow
          name="Parent contact"
          view="contacts"
          id={contact.parent_contact_id}
          {...{ shop }}
        />
        <CopyFact name="Id" text={contact.id} what="the contact id" />
      </dl>
      {wrote && !isDeskOnly.value && (
        <p>
          <a href={`/messages?shop=${encodeURIComponent(shop)}&text=${encodeURIComponent(wrote)}`}>
            Messages from this contact
          </a>
        </p>
      )}
    </Card>
  );
}
