import { useLocation } from 'preact-iso';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { overview } from '../stream.ts';
import { Select } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import {
  addressIn,
  type PlatformPlace,
  readPlace,
  type View,
  VIEWS,
  writePlace,
} from './addresses.ts';
import { ContactsView, ContactView } from './contacts.tsx';
import { ConversationsView, ConversationView } from './conversations.tsx';
import type { ItemProps, ListProps } from './page-frame.tsx';
import './platform.css';
import { TicketsView, TicketView } from './tickets.tsx';

interface Shown {
  readonly name: string;
  readonly icon: IconName;
  readonly List: FunctionComponent<ListProps>;
  readonly Item: FunctionComponent<ItemProps>;
}
const SHOWN: Readonly<Record<View, Shown>> = {
  tickets: { name: 'Tickets', icon: 'platform', List: TicketsView, Item: TicketView },
  conversations: {
    name: 'Conversations',
    icon: 'web_chat',
    List: ConversationsView,
    Item: ConversationView,
  },
  contacts: { name: 'Contacts', icon: 'person', List: ContactsView, Item: ContactView },
};

/** Tickets, conversations and contacts of a shop, read from its platform. */
export function PlatformPage() {
  const { url, route } = useLocation();
  const place = readPlace(url.includes('?') ? url.slice(url.indexOf('?')) : '');
  const shops = overview.value?.shops.map(({ shop }) => shop);
  const shop = place.shop === '' ? (shops?.[0] ?? '') : place.shop;
  const here: PlatformPlace = { ...place, shop };
  const go = (next: Partial<PlatformPlace>, replace = false) =>
    route(writePlace({ ...here, ...next }), replace);
  useEffect(() => scrollTo(0, 0), [place.id, place.view]);
  const options = shops === undefined || shops.includes(shop) ? (shops ?? []) : [...shops, shop];
  return (
    <div class="platform">
      <PageTitle title="Platform">
        {options.length > 1 && (
          <Select
            label="Shop"
            value={shop}
            options={options.map((each) => ({ value: each, label: each }))}
            onChoose={(chosen) => go({ shop: chosen, id: '', filters: {} })}
          />
        )}
      </PageTitle>
      <nav class="views" aria-label="Platform">
        {VIEWS.map((view) => (
          <a
            key={view}
            href={addressIn(view)(shop)}
            aria-current={view === place.view ? 'page' : undefined}
          >
            <Icon name={SHOWN[view].icon} />
            {SHOWN[view].name}
          </a>
        ))}
      </nav>
      {shop === '' ? (
        shops === undefined ? (
          <Skeleton lines={6} />
        ) : (
          <Empty icon="platform" title="No shop is configured">
            <p>
              Add a shop under <code>shops</code>. Its key is used to read the platform.
            </p>
          </Empty>
        )
      ) : (
        <Place key={writePlace(here)} place={here} go={go} />
      )}
    </div>
  );
}

function Place({ place, go }: ListProps) {
  const { shop, view, id } = place;
  const { List, Item } = SHOWN[view];
  return id === '' ? <List {...{ place, go }} /> : <Item {...{ shop, id }} />;
}
