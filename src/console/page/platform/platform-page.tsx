import { useLocation } from 'preact-iso';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { overview, shopsWith } from '../stream.ts';
import { Select } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import {
  addressIn,
  type Go,
  type PlatformPlace,
  readPlace,
  type View,
  VIEWS,
  writePlace,
} from './addresses.ts';
import { ContactItem, ContactsView } from './contacts.tsx';
import { ConversationItem, ConversationsView } from './conversations.tsx';
import { type ItemProps, type ListProps, PlatformNotLoaded } from './page-frame.tsx';
import type { Resources } from './resources.ts';
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

/** Tickets, conversations and contacts of a shop, read from its platform. */
export function PlatformPage() {
  const { url, route } = useLocation();
  const place = readPlace(url.includes('?') ? url.slice(url.indexOf('?')) : '');
  const options = shopsWith(place.shop);
  const shop = place.shop === '' ? (options[0] ?? '') : place.shop;
  const here: PlatformPlace = { ...place, shop };
  const go: Go = (next) => route(writePlace({ ...here, ...next }));
  useEffect(() => scrollTo(0, 0), [place.id, place.view]);
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
            href={addressIn(view, shop)}
            aria-current={view === place.view ? 'page' : undefined}
          >
            <Icon name={SHOWN[view].icon} />
            {SHOWN[view].name}
          </a>
        ))}
      </nav>
      {shop === '' ? (
        overview.value === undefined ? (
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
  const { List } = SHOWN[place.view];
  return place.id === '' ? <List {...{ place, go }} /> : <PlaceItem {...place} />;
}

/** Loads one ticket, conversation or contact and renders it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties the item to its view
function PlaceItem<V extends View>({ shop, view, id }: PlatformPlace & { readonly view: V }) {
  const { data, failure, reload } = useLoad((signal) =>
    api.platform<Resources[V]>(shop, `${view}/${encodeURIComponent(id)}`, {}, signal),
  );
  if (data === undefined) return <PlatformNotLoaded {...{ failure }} onRetry={reload} lines={8} />;
  const { Item }: Shown<V> = SHOWN[view];
  return <Item {...{ shop }} item={data} />;
}
