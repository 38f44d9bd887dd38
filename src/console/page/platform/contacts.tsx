import { Button } from '../ui/button.tsx';
import { Input, Select } from '../ui/field.tsx';
import { Card, Fact, Skeleton, Time } from '../ui/page-parts.tsx';
import { api, useLoad } from '../api.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import {
  contactAddress,
  type Go,
  personFilter,
  type PlatformPlace,
  writePlace,
} from './addresses.ts';
import { fieldOf, PageFrame, PlatformFailure, usePages } from './page-frame.tsx';
import { type Contact, firstOf, nameOf, timeOf } from './resources.ts';
import { LinkedIdRow, TimeRow, IdRow } from './facts.tsx';

/** The contacts of a shop; the API finds one by its complete address or number (§4.10). */
export function ContactsView({ place, go }: { readonly place: PlatformPlace; readonly go: Go }) {
  const { shop, filters } = place;
  const pages = usePages<Contact>(shop, 'contacts', { ...filters, limit: 50 });
  const isSearch = filters['email'] !== undefined || filters['phone'] !== undefined;
  return (
    <>
      <form
        key={writePlace(place)}
        class="filter-fields platform-filters"
        onSubmit={(event) => {
          event.preventDefault();
          const text = fieldOf(event.currentTarget, 'person');
          const { email: _email, phone: _phone, ...rest } = filters;
          go({ filters: { ...rest, ...personFilter(text) } });
        }}
      >
        <Input
          label="Email address or phone number"
          quietLabel
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
          quietLabel
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
      </form>
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
          <div class="table-frame card">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Email</th>
                  <th scope="col">Phone</th>
                  <th scope="col">Last activity</th>
                </tr>
              </thead>
              <tbody>
                {contacts.map((contact) => {
                  const at = timeOf(contact.last_activity_at);
                  return (
                    <tr key={contact.id}>
                      <td class="wide-cell">
                        <a href={contactAddress(shop, contact.id)}>
                          <bdi>{nameOf(contact)}</bdi>
                        </a>
                        {contact.is_archived && <span class="muted"> archived</span>}
                      </td>
                      <td class="break">{contact.email ?? <span class="muted">–</span>}</td>
                      <td class="nowrap">{contact.phone ?? <span class="muted">–</span>}</td>
                      <td class="nowrap">
                        {at === undefined ? <span class="muted">–</span> : <Time {...{ at }} />}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      />
    </>
  );
}

/** One contact, with a link to their messages. */
export function ContactView({ shop, id }: { readonly shop: string; readonly id: string }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.platform<Contact>(shop, `contacts/${encodeURIComponent(id)}`, {}, signal),
    [shop, id],
  );
  if (data === undefined) {
    return failure === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  const wrote = firstOf(data.email, data.phone);
  return (
    <Card title="Contact">
      <p class="resource-name">
        <bdi>{nameOf(data)}</bdi>
        {data.is_archived && <span class="muted"> archived</span>}
      </p>
      <dl class="resource-facts">
        {(['name', 'company', 'email', 'phone'] as const).map((field) =>
          data[field] ? (
            <Fact key={field} name={field} class="id-copy">
              <bdi>{data[field]}</bdi>
              <CopyButton text={data[field]} what={`the ${field}`} />
            </Fact>
          ) : null,
        )}
        <TimeRow name="Last activity" text={data.last_activity_at} />
        <TimeRow name="Created" text={data.created_at} />
        <LinkedIdRow
          name="Parent contact"
          id={data.parent_contact_id}
          href={(of) => contactAddress(shop, of)}
        />
        <IdRow id={data.id} what="contact" />
      </dl>
      {wrote && (
        <p>
          <a href={`/messages?shop=${encodeURIComponent(shop)}&text=${encodeURIComponent(wrote)}`}>
            Messages from this contact
          </a>
        </p>
      )}
    </Card>
  );
}
