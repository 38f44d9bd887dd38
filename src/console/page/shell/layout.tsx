import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { AuditPage } from '../audit/audit-page.tsx';
import { PeoplePage } from '../people/people-page.tsx';
import { ConfigurationPage } from '../configuration/configuration-page.tsx';
import { DoctorPage } from '../doctor/doctor-page.tsx';
import { IncidentsPage } from '../incidents/incidents-page.tsx';
import { MessagePage } from '../message/message-page.tsx';
import { MessagesPage } from '../messages/messages-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { QUEUE } from '../platform/addresses.ts';
import { forgetDrafts } from '../platform/desk/draft.ts';
import { PlatformPage } from '../platform/platform-page.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog, orToast } from '../ui/overlays.tsx';
import { Empty, Note, PageTitle } from '../ui/page-parts.tsx';
import { api, session } from '../api.ts';
import { count, span } from '../formats.ts';
import { connection, desk, isDeskOnly, lastSeenAt, overview } from '../stream.ts';
import { Icon, Mark } from '../ui/icon.tsx';
import { SchemeSwitch } from '../scheme.tsx';
import { now } from '../now.ts';
import { chooseUtc, isUtc } from '../zone.ts';
import { Palette, usePalette } from './palette.tsx';
import { hrefOf, ownPages, ShortcutHelp, useShortcuts } from './shortcuts.tsx';

/** The frame around every page. */
export const Layout = () => (
  <LocationProvider>
    <Shell />
  </LocationProvider>
);

function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const help = useShortcuts();
  const palette = usePalette();
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={enterPage}>
        Skip to content
      </a>
      <header class="topbar">
        <Button look="quiet" icon="menu" aria-label="Menu" onClick={() => setMenuOpen(true)} />
        <span class="brand">Sluice</span>
        <StatusDot />
      </header>
      <aside class="sidebar">
        <Navigation onHelp={help.open} onFind={palette.open} />
      </aside>
      <Dialog open={isMenuOpen} title="Sluice" look="drawer" onClose={() => setMenuOpen(false)}>
        <Navigation
          onHelp={() => {
            setMenuOpen(false);
            help.open();
          }}
          onFind={() => {
            setMenuOpen(false);
            palette.open();
          }}
          onNavigate={() => setMenuOpen(false)}
        />
      </Dialog>
      <main id="content" class="content">
        <ConnectionNote />
        <Router onRouteChange={() => enterPage()}>
          <Route path="/platform" component={PlatformPage} />
          {isDeskOnly.value ? DESK_ROUTES : OPERATOR_ROUTES}
        </Router>
      </main>
      <ShortcutHelp open={help.isOpen} onClose={help.close} />
      <Palette
        open={palette.isOpen}
        onClose={palette.close}
        onKeys={help.open}
        onSignOut={() => void signOut()}
      />
    </div>
  );
}

/** The start page of people at the desk. */
function ToQueue() {
  const { route } = useLocation();
  useEffect(() => route(QUEUE, true), []);
  return null;
}

const DeskOnlyPage = () => (
  <>
    <PageTitle title="Not for your role" />
    <Empty icon="lock" title="Your role, desk, has the Platform pages only">
      <ButtonLink href={QUEUE}>Queue</ButtonLink>
    </Empty>
  </>
);

const NotFoundPage = () => (
  <>
    <PageTitle title="Not found" />
    <Empty icon="search" title="This page does not exist">
      <ButtonLink href="/">Overview</ButtonLink>
    </Empty>
  </>
);

const OPERATOR_ROUTES = [
  <Route key="/" path="/" component={OverviewPage} />,
  <Route key="/messages" path="/messages" component={MessagesPage} />,
  <Route key="/messages/:id" path="/messages/:id" component={MessagePage} />,
  <Route key="/incidents" path="/incidents" component={IncidentsPage} />,
  <Route key="/configuration" path="/configuration" component={ConfigurationPage} />,
  <Route key="/people" path="/people" component={PeoplePage} />,
  <Route key="/audit" path="/audit" component={AuditPage} />,
  <Route key="/doctor" path="/doctor" component={DoctorPage} />,
  <Route key="*" default component={NotFoundPage} />,
];
const DESK_ROUTES = [
  <Route key="/" path="/" component={ToQueue} />,
  <Route key="*" default component={DeskOnlyPage} />,
];

/** Moves the focus to the page's heading, so that a screen reader announces the new page. */
function enterPage(event?: Event): void {
  event?.preventDefault();
  requestAnimationFrame(() => {
    const heading = document.querySelector<HTMLElement>('#content h1');
    heading?.focus({ preventScroll: event === undefined });
  });
}

const isWithin = (at: string, path: string): boolean =>
  at === path || (path !== '/' && at.startsWith(`${path}/`));

/**
 * Links to the pages, the colour scheme and the sign-out. `onNavigate`: called when a page was chosen.
 */
function Navigation(props: { onHelp(): void; onFind(): void; onNavigate?(): void }) {
  const { path: at } = useLocation();
  const dead = overview.value?.queue.dead ?? 0;
  const waiting = desk.value?.shops.reduce((sum, shop) => sum + shop.waiting, 0) ?? 0;
  return (
    <div class="navigation">
      <div class="brand">
        <Mark />
        Sluice
        <StatusDot />
      </div>
      <nav aria-label="Pages">
        {ownPages().map(({ path, name, icon }) => (
          <a
            key={path}
            href={hrefOf(path)}
            aria-current={isWithin(at, path) ? 'page' : undefined}
            onClick={() => props.onNavigate?.()}
          >
            <Icon name={icon} />
            {name}
            {path === '/messages' && dead > 0 && (
              <span class="tally">
                {count(dead)} <span class="sr">dead</span>
              </span>
            )}
            {path === '/platform' && waiting > 0 && (
              <span class="tally">
                {count(waiting)} <span class="sr">waiting for a person</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="navigation-end">
        <SchemeSwitch />
        <button
          type="button"
          class="nav-item"
          aria-pressed={isUtc.value}
          onClick={() => chooseUtc(!isUtc.value)}
        >
          <Icon name="audit" />
          Times <span class="zone muted small">{isUtc.value ? 'UTC' : 'local'}</span>
        </button>
        <button type="button" class="nav-item" onClick={() => props.onFind()}>
          <Icon name="search" />
          Go to <kbd aria-hidden="true">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <button type="button" class="nav-item" onClick={() => props.onHelp()}>
          <Icon name="keyboard" />
          Keyboard <kbd aria-hidden="true">?</kbd>
        </button>
        <button type="button" class="nav-item" onClick={() => void signOut()}>
          <Icon name="signOut" />
          Sign out <span class="operator muted small ellipsis">{session.value?.operator}</span>
        </button>
      </div>
    </div>
  );
}

/** Apple keyboards have another key for commands. */
const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

const signOut = (): Promise<boolean> =>
  orToast(async () => {
    // First, since the stream may tell of the end before the answer comes.
    forgetDrafts();
    await api.logout();
    session.value = null;
  });

/** Warns that the data shown is outdated, or that delivery is paused. */
function ConnectionNote() {
  const { path } = useLocation();
  // The overview shows this in its status line.
  const isLost = connection.value === 'lost' && path !== '/';
  const seen = lastSeenAt.value;
  const pause = overview.value?.conditions.find(({ kind }) => kind === 'paused');
  return (
    <div role="status" aria-live="polite">
      {isLost && (
        <Note tone="danger" icon="alert">
          <b>Connection lost.</b>{' '}
          {seen === undefined ? (
            'The gateway has not responded yet.'
          ) : (
            <>
              The data shown is <span aria-live="off">{span(now.value - seen)}</span> old.
            </>
          )}{' '}
          Reconnecting.
        </Note>
      )}
      {connection.value === 'live' && pause !== undefined && (
        <Note tone="warning" icon="pause">
          <b>{pause.sentence}.</b> {pause.remedy} <a href="/configuration">Configuration</a>
        </Note>
      )}
    </div>
  );
}

const CONNECTION_NAMES = { live: 'Live', connecting: 'Connecting', lost: 'Offline' } as const;

const StatusDot = () => (
  <span class={`status-dot ${connection.value}`}>
    <i aria-hidden="true" />
    {CONNECTION_NAMES[connection.value]}
  </span>
);
