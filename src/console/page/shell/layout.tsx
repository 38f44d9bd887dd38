import { useState } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso';
import { AuditPage } from '../audit/audit-page.tsx';
import { ConfigurationPage } from '../configuration/configuration-page.tsx';
import { DoctorPage } from '../doctor/doctor-page.tsx';
import { MessagePage } from '../message/message-page.tsx';
import { MessagesPage } from '../messages/messages-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { PlatformPage } from '../platform/platform-page.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ConnectionNote, StatusDot } from './connection-note.tsx';
import { Navigation } from './navigation.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { enterPage } from './page-focus.ts';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';

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
