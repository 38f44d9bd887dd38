import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Input, Select } from '../ui/field.tsx';
import { Card, Fact, Skeleton, Time } from '../ui/page-parts.tsx';
import { api, useLoad } from '../api.ts';
import {
  contactAddress,
  conversationAddress,
  type Go,
  type PlatformPlace,
  ticketAddress,
  writePlace,
} from './addresses.ts';
import { fieldOf, PageFrame, PlatformFailure, usePages } from './page-frame.tsx';
import { type Ticket, timeOf } from './resources.ts';
import { LinkedIdRow, TimeRow, IdRow, StatusBadge } from './facts.tsx';
import { TranscriptCard } from './transcript-card.tsx';

/** The API accepts a range of at most 30 days (§8). */
const WINDOWS = [
  { value: '', label: 'Created at any time' },
  { value: 'relative:-1d,', label: 'Last 24 hours' },
  { value: 'relative:-7d,', label: 'Last 7 days' },
  { value: 'relative:-30d,', label: 'Last 30 days' },
];
const BY_ID = [
  { name: 'assignee_id', label: 'Teammate id' },
  { name: 'agent_id', label: 'AI agent id' },
  { name: 'label_id', label: 'Label id' },
  { name: 'conversation_id', label: 'Conversation id' },
] as const;

/** The tickets of a shop, with the filters of the API (§4.2). */
export function TicketsView({ place, go }: { readonly place: PlatformPlace; readonly go: Go }) {
  const { shop, filters } = place;
  const pages = usePages<Ticket>(shop, 'tickets', { ...filters, limit: 50 });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <TicketFilters key={writePlace(place)} {...{ place, go }} />
      <PageFrame
        {...{ pages }}
        empty={
          isFiltered
            ? { icon: 'search', title: 'No tickets found', hint: 'Remove a filter.' }
            : {
                icon: 'platform',
                title: 'No tickets yet',
                hint: 'The platform creates one from a customer’s first message.',
              }
        }
        render={(tickets) => (
          <div class="table-frame card">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col" class="number">
                    No.
                  </th>
                  <th scope="col">Ticket</th>
                  <th scope="col">Status</th>
                  <th scope="col" class="number">
                    Priority
                  </th>
                  <th scope="col">Last message</th>
                </tr>
              </thead>
              <tbody>
                {tickets.map((ticket) => (
                  <Row key={ticket.id} {...{ shop, ticket }} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      />
    </>
  );
}

function Row({ shop, ticket }: { readonly shop: string; readonly ticket: Ticket }) {
  const { id, number, name, status, priority, last_message_content: last } = ticket;
  const at = timeOf(ticket.last_message_at) ?? timeOf(ticket.created_at);
  return (
    <tr>
      <td class="number muted">{number}</td>
      <td class="wide-cell">
        <a href={ticketAddress(shop, id)}>
          <bdi>{name === '' ? `Ticket ${number}` : name}</bdi>
        </a>
        {last && (
          <p class="muted ellipsis">
            <bdi>{last}</bdi>
          </p>
        )}
      </td>
      <td>
        <StatusBadge {...{ status }} />
      </td>
      <td class="number of-wide-lists">{priority ?? <span class="muted">–</span>}</td>
      <td class="nowrap">{at !== undefined && <Time {...{ at }} />}</td>
    </tr>
  );
}

function TicketFilters({ place, go }: { readonly place: PlatformPlace; readonly go: Go }) {
  const { filters } = place;
  const given = BY_ID.find(({ name }) => filters[name] !== undefined);
  const [by, setBy] = useState<string>(given?.name ?? BY_ID[0].name);
  const set = (change: Readonly<Record<string, string>>) =>
    go({ filters: { ...filters, ...change } });
  const clearIds = Object.fromEntries(BY_ID.map(({ name }) => [name, '']));
  return (
    <form
      class="filter-fields platform-filters"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        set({ ...clearIds, [by]: fieldOf(form, 'id'), priority: fieldOf(form, 'priority') });
      }}
    >
      <Select
        label="Created"
        quietLabel
        value={filters['created_at__range'] ?? ''}
        options={WINDOWS}
        onChoose={(value) => set({ created_at__range: value })}
      />
      <Input
        label="Priority"
        quietLabel
        placeholder="Priority"
        name="priority"
        inputMode="numeric"
        pattern="-?[0-9]*"
        maxLength={6}
        defaultValue={filters['priority'] ?? ''}
      />
      <Select
        label="Find by"
        quietLabel
        value={by}
        options={BY_ID.map(({ name, label }) => ({ value: name, label }))}
        onChoose={setBy}
      />
      <Input
        label="Id"
        quietLabel
        placeholder="Id"
        name="id"
        maxLength={64}
        spellcheck={false}
        defaultValue={given === undefined ? '' : (filters[given.name] ?? '')}
      />
      <Button type="submit" icon="search">
        Find
      </Button>
      {Object.keys(filters).length > 0 && (
        <Button look="quiet" icon="close" onClick={() => go({ filters: {} })}>
          Clear
        </Button>
      )}
    </form>
  );
}

/** One ticket with its conversation. */
export function TicketView({ shop, id }: { readonly shop: string; readonly id: string }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.platform<Ticket>(shop, `tickets/${encodeURIComponent(id)}`, {}, signal),
    [shop, id],
  );
  if (data === undefined) {
    return failure === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  const { conversation_id: conversation, contact_id: contact } = data;
  return (
    <div class="message-columns">
      <div class="message-main">
        {conversation ? (
          <TranscriptCard {...{ shop }} conversation={conversation} />
        ) : (
          <Card title="Messages">
            <p class="muted">This ticket has no conversation.</p>
          </Card>
        )}
      </div>
      <div class="message-side">
        <Card title={`Ticket ${data.number}`}>
          <p class="resource-name">
            <bdi>{data.name}</bdi>
          </p>
          {data.summary && (
            <p class="muted">
              <bdi>{data.summary}</bdi>
            </p>
          )}
          <dl class="resource-facts">
            <Fact name="Status">
              <StatusBadge status={data.status} />
            </Fact>
            <Fact name="Priority">{data.priority ?? '–'}</Fact>
            <TimeRow name="Created" text={data.created_at} />
            <TimeRow name="Last message" text={data.last_message_at} />
            <TimeRow name="Completed" text={data.completed_at} />
            <LinkedIdRow name="Contact" id={contact} href={(of) => contactAddress(shop, of)} />
            <LinkedIdRow
              name="Conversation"
              id={conversation}
              href={(of) => conversationAddress(shop, of)}
            />
            <IdRow id={data.id} what="ticket" />
          </dl>
        </Card>
      </div>
    </div>
  );
}
