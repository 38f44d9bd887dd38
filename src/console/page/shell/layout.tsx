import { useState } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso';
import { AuditPage } from '../audit/audit-page.tsx';
import { ConfigurationPage } from '../configuration/configuration-page.tsx';
import { DoctorPage } from '../doctor/doctor-page.tsx';
import { MessagePage } from '../message/message-page.tsx';
import { MessagesPage } from '../messages/messages-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { PlatformPage } from '../platform/platform-page.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Empty } from '../ui/states.tsx';
import { PageTitle } from '../ui/page-parts.tsx';
import { ConnectionNote, StatusDot } from './connection-note.tsx';
import { Navigation } from './navigation.tsx';
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx';

/** What is around every page. */
export const Layout = () => (
  <LocationProvider>
    <Shell />
  </LocationProvider>
);

function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const help = useShortcuts();
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
        <Navigation onHelp={help.open} />
      </aside>
      <Dialog open={isMenuOpen} title="Sluice" look="drawer" onClose={() => setMenuOpen(false)}>
        <Navigation
          onHelp={() => {
            setMenuOpen(false);
            help.open();
          }}
          onGone={() => setMenuOpen(false)}
        />
      </Dialog>
      <main id="content" class="content">
        <ConnectionNote />
        <Router onRouteChange={() => enterPage()}>
          <Route path="/" component={OverviewPage} />
          <Route path="/messages" component={MessagesPage} />
          <Route path="/messages/:id" component={MessagePage} />
          <Route path="/platform" component={PlatformPage} />
          <Route path="/configuration" component={ConfigurationPage} />
          <Route path="/audit" component={AuditPage} />
          <Route path="/doctor" component={DoctorPage} />
          <Route default component={NotFoundPage} />
        </Router>
      </main>
      <ShortcutHelp open={help.isOpen} onClose={help.close} />
    </div>
  );
}

const NotFoundPage = () => (
  <>
    <PageTitle title="Not found" />
    <Empty icon="search" title="There is no such page">
      <ButtonLink href="/">Overview</ButtonLink>
    </Empty>
  </>
);

/** Puts the focus on the page's heading, so that a screen reader says where one is now. */
function enterPage(event?: Event): void {
  event?.preventDefault();
  requestAnimationFrame(() => {
    const heading = document.querySelector<HTMLElement>('#content h1');
    heading?.focus({ preventScroll: event === undefined });
  });
}
