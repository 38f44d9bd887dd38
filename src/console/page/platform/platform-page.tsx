import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { overview } from '../stream.ts';
import { Select } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import {
  type Go,
  type PlatformPlace,
  readPlace,
  type View,
  VIEWS,
  writePlace,
} from './addresses.ts';
import { ContactsView, ContactView } from './contacts.tsx';
import { ConversationsView, ConversationView } from './conversations.tsx';
import './platform.css';
import { TicketsView, TicketView } from './tickets.tsx';

const NAMES: Readonly<Record<View, readonly [string, IconName]>> = {
  tickets: ['Tickets', 'platform'],
  conversations: ['Conversations', 'web_chat'],
  contacts: ['Contacts', 'person'],
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
            quietLabel
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
            href={writePlace({ shop, view, id: '', filters: {} })}
            aria-current={view === place.view ? 'page' : undefined}
          >
            <Icon name={NAMES[view][1]} />
            {NAMES[view][0]}
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
        <Shown key={shop} place={here} go={go} />
      )}
    </div>
  );
}

function Shown({ place, go }: { readonly place: PlatformPlace; readonly go: Go }) {
  const { shop, view, id } = place;
  switch (view) {
    case 'tickets':
      return id === '' ? (
        <TicketsView {...{ place, go }} />
      ) : (
        <TicketView key={id} {...{ shop, id }} />
      );
    case 'conversations':
      return id === '' ? (
        <ConversationsView {...{ place, go }} />
      ) : (
        <ConversationView key={id} {...{ shop, id }} />
      );
    case 'contacts':
      return id === '' ? (
        <ContactsView {...{ place, go }} />
      ) : (
        <ContactView key={id} {...{ shop, id }} />
      );
  }
}
