import { useLocation } from 'preact-iso';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { desk, overview, shopsWith } from '../stream.ts';
import { Select } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import {
  addressIn,
  type Go,
  OUTBOX,
  type PlatformPlace,
  QUEUE,
  readPlace,
  type View,
  VIEWS,
  writePlace,
} from './addresses.ts';
import { ContactItem, ContactsView } from './contacts.tsx';
import { ConversationItem, ConversationsView } from './conversations.tsx';
import { type ItemProps, type ListProps, PlatformNotLoaded } from './page-frame.tsx';
import type { Resources } from './resources.ts';
import { DeskTicket } from './desk/ticket-desk.tsx';
import { OutboxView } from './desk/outbox.tsx';
import { QueueView } from './desk/queue.tsx';
import './platform.css';
import { TicketItem, TicketsView } from './tickets.tsx';

interface Shown<V extends View> {
  readonly name: string;
  readonly icon: IconName;
  readonly List: FunctionComponent<ListProps>;
  readonly Item: FunctionComponent<ItemProps<V>>;
}
const SHOWN: { readonly [V in View]: Shown<V> } = {
  tickets: { name: 'Tickets', icon: 'platform', List: TicketsView, Item: TicketItem },
  conversations: {
    name: 'Conversations',
    icon: 'web_chat',
    List: ConversationsView,
    Item: ConversationItem,
  },
  contacts: { name: 'Contacts', icon: 'person', List: ContactsView, Item: ContactItem },
};

/**
 * Tickets, conversations and contacts of a shop, read from its platform, and of all shops on the local
 * platform what waits for a person.
 */
export function PlatformPage() {
  const { url, route } = useLocation();
  const place = readPlace(url.includes('?') ? url.slice(url.indexOf('?')) : '');
  const options = shopsWith(place.shop);
  const shop = place.shop === '' ? (options[0] ?? '') : place.shop;
  const here: PlatformPlace = { ...place, shop };
  const undelivered = desk.value?.shops.reduce((sum, each) => sum + each.undelivered, 0) ?? 0;
  const go: Go = (next) => route(writePlace({ ...here, ...next }));
  useEffect(() => scrollTo(0, 0), [place.id, place.view]);
  return (
    <div class="platform">
      <PageTitle title="Platform">
        {options.length > 1 && place.view !== 'queue' && place.view !== 'outbox' && (
          <Select
            label="Shop"
            value={shop}
            options={options.map((each) => ({ value: each, label: each }))}
            onChoose={(chosen) => go({ shop: chosen, id: '', filters: {} })}
          />
        )}
      </PageTitle>
      <nav class="views" aria-label="Platform">
        {desk.value?.shops.some(({ isLocal }) => isLocal) === true && (
          <>
            <a href={QUEUE} aria-current={place.view === 'queue' ? 'page' : undefined}>
              <Icon name="queued" />
              Queue
            </a>
            <a href={OUTBOX} aria-current={place.view === 'outbox' ? 'page' : undefined}>
              <Icon name="send" />
              Outbox
              {undelivered > 0 && <b class="views-count">{undelivered}</b>}
            </a>
          </>
        )}
        {VIEWS.map((view) => (
          <a
            key={view}
            href={addressIn(view, shop)}
            aria-current={view === place.view ? 'page' : undefined}
          >
            <Icon name={SHOWN[view].icon} />
            {SHOWN[view].name}
          </a>
        ))}
      </nav>
      {place.view === 'queue' ? (
        <QueueView />
      ) : place.view === 'outbox' ? (
        <OutboxView />
      ) : shop === '' ? (
        overview.value === undefined && desk.value === undefined ? (
          <Skeleton lines={6} />
        ) : (
          <Empty icon="platform" title="No shop is configured">
            <p>
              Add a shop under <code>shops</code>. Its key is used to read the platform.
            </p>
          </Empty>
        )
      ) : (
        <Place key={writePlace(here)} place={{ ...here, view: place.view }} go={go} />
      )}
    </div>
  );
}

function Place({ place, go }: ListProps & { readonly place: { readonly view: View } }) {
  const { List } = SHOWN[place.view];
  if (place.id === '') return <List {...{ place, go }} />;
  if (place.view !== 'tickets') return <PlaceItem {...place} />;
  // Those of other platforms are answered there.
  if (desk.value === undefined) return <Skeleton lines={8} />;
  const isLocal = desk.value.shops.some((each) => each.shop === place.shop && each.isLocal);
  return isLocal ? <DeskTicket shop={place.shop} id={place.id} /> : <PlaceItem {...place} />;
}

/** Loads one ticket, conversation or contact and renders it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties the item to its view
function PlaceItem<V extends View>(props: PlatformPlace & { readonly view: V }) {
  const { shop, view, id } = props;
  const { data, failure, reload } = useLoad((signal) =>
    api.platform<Resources[V]>(shop, `${view}/${encodeURIComponent(id)}`, {}, signal),
  );
  if (data === undefined) return <PlatformNotLoaded {...{ failure }} onRetry={reload} lines={8} />;
  const { Item }: Shown<V> = SHOWN[view];
  return <Item {...{ shop }} item={data} />;
}
