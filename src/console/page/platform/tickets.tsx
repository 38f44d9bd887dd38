import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { CopyFact } from '../ui/copy-button.tsx';
import { Form, Input, Select } from '../ui/field.tsx';
import { Card, Fact, TableCard } from '../ui/page-parts.tsx';
import { addressIn } from './addresses.ts';
import { type ItemProps, type ListProps, PageFrame, usePlatformPages } from './page-frame.tsx';
import { type Ticket, timeOf } from './resources.ts';
import { BesideMessages, LinkedIdRow, StatusBadge, TimeCell, TimeRow } from './facts.tsx';
import { TranscriptCard } from './transcript-card.tsx';

const COLUMNS = ['No.', 'Ticket', 'Status', 'Priority', 'Last message'];
/** The API accepts a range of at most 30 days (§8). */
const WINDOWS = [
  { value: '', label: 'Created at any time' },
  { value: 'relative:-1d,', label: 'Last 24 hours' },
  { value: 'relative:-7d,', label: 'Last 7 days' },
  { value: 'relative:-30d,', label: 'Last 30 days' },
];
const BY_ID = [
  { name: 'person', label: 'Email address or number' },
  { name: 'assignee_id', label: 'Teammate id' },
  { name: 'agent_id', label: 'AI agent id' },
  { name: 'label_id', label: 'Label id' },
  { name: 'conversation_id', label: 'Conversation id' },
] as const;

/** The tickets of a shop, with the filters of the API (§4.2), or of a person who wrote through the gateway. */
export function TicketsView({ place, go }: ListProps) {
  const { shop, filters } = place;
  const pages = usePlatformPages(shop, 'tickets', { ...filters, limit: 50 });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <TicketFilters {...{ place, go }} />
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
          <TableCard class="table-frame" columns={COLUMNS} numbers={['No.', 'Priority']}>
            {tickets.map((ticket) => (
              <Row key={ticket.id} {...{ shop, ticket }} />
            ))}
          </TableCard>
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
        <a href={addressIn('tickets', shop, id)}>
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
      <TimeCell {...{ at }} />
    </tr>
  );
}

function TicketFilters({ place, go }: ListProps) {
  const { filters } = place;
  const given = BY_ID.find(({ name }) => filters[name] !== undefined);
  const [by, setBy] = useState<string>(given?.name ?? BY_ID[0].name);
  const set = (change: Readonly<Record<string, string>>) =>
    go({ filters: { ...filters, ...change } });
  const clearIds = Object.fromEntries(BY_ID.map(({ name }) => [name, '']));
  return (
    <Form
      class="filter-fields platform-filters"
      onSubmit={(valueOf) =>
        set({ ...clearIds, [by]: valueOf('id').trim(), priority: valueOf('priority').trim() })
      }
    >
      <Select
        label="Created"
        value={filters['created_at__range'] ?? ''}
        options={WINDOWS}
        onChoose={(value) => set({ created_at__range: value })}
      />
      <Input
        label="Priority"
        placeholder="Priority"
        name="priority"
        inputMode="numeric"
        pattern="-?[0-9]*"
        maxLength={6}
        defaultValue={filters['priority'] ?? ''}
      />
      <Select
        label="Find by"
        value={by}
        options={BY_ID.map(({ name, label }) => ({ value: name, label }))}
        onChoose={setBy}
      />
      <Input
        label={BY_ID.find(({ name }) => name === by)?.label ?? 'Id'}
        placeholder={by === 'person' ? 'Address or number' : 'Id'}
        name="id"
        maxLength={320}
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
    </Form>
  );
}

/** One ticket with its conversation. */
export function TicketItem({ shop, item: ticket }: ItemProps<'tickets'>) {
  const { conversation_id: conversation, contact_id: contact } = ticket;
  const messages = conversation ? (
    <TranscriptCard {...{ shop }} conversation={conversation} />
  ) : (
    <Card title="Messages">
      <p class="muted">This ticket has no conversation.</p>
    </Card>
  );
  return (
    <BesideMessages {...{ messages }}>
      <Card title={`Ticket ${ticket.number}`}>
        <p class="resource-name">
          <bdi>{ticket.name}</bdi>
        </p>
        {ticket.summary && (
          <p class="muted">
            <bdi>{ticket.summary}</bdi>
          </p>
        )}
        <dl class="resource-facts">
          <Fact name="Status">
            <StatusBadge status={ticket.status} />
          </Fact>
          <Fact name="Priority">{ticket.priority ?? '–'}</Fact>
          <TimeRow name="Created" text={ticket.created_at} />
          <TimeRow name="Last message" text={ticket.last_message_at} />
          <TimeRow name="Completed" text={ticket.completed_at} />
          <LinkedIdRow name="Contact" view="contacts" id={contact} {...{ shop }} />
          <LinkedIdRow name="Conversation" view="conversations" id={conversation} {...{ shop }} />
          <CopyFact name="Id" text={ticket.id} what="the ticket id" />
        </dl>
      </Card>
    </BesideMessages>
  );
}
