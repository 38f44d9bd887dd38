import { useLocation } from 'preact-iso';
import { api, session } from '../api.ts';
import { count } from '../formats.ts';
import { asRefusal } from '../load.ts';
import { overview } from '../stream.ts';
import { Icon, type IconName, Mark } from '../ui/icon.tsx';
import { toast } from '../ui/toast.tsx';
import { StatusDot } from './connection-note.tsx';
import { SchemeSwitch } from '../scheme.tsx';

const PAGES: readonly { readonly path: string; readonly name: string; readonly icon: IconName }[] =
  [
    { path: '/', name: 'Overview', icon: 'overview' },
    { path: '/messages', name: 'Messages', icon: 'messages' },
    { path: '/platform', name: 'Platform', icon: 'platform' },
    { path: '/configuration', name: 'Configuration', icon: 'configuration' },
    { path: '/audit', name: 'Audit', icon: 'audit' },
    { path: '/doctor', name: 'Doctor', icon: 'doctor' },
  ];

const isWithin = (at: string, path: string): boolean =>
  at === path || (path !== '/' && at.startsWith(`${path}/`));

/** The pages, who is signed in, and how it all looks. `onGone`: a page was chosen. */
export function Navigation(props: { onHelp(): void; onGone?(): void }) {
  const { path: at } = useLocation();
  const dead = overview.value?.queue.dead ?? 0;
  return (
    <div class="navigation">
      <div class="brand">
        <Mark />
        Sluice
        <StatusDot />
      </div>
      <nav aria-label="Pages">
        {PAGES.map(({ path, name, icon }) => (
          <a
            key={path}
            href={path}
            aria-current={isWithin(at, path) ? 'page' : undefined}
            onClick={() => props.onGone?.()}
          >
            <Icon name={icon} />
            {name}
            {path === '/messages' && dead > 0 && (
              <span class="tally">
                {count(dead)} <span class="sr">dead</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="navigation-end">
        <SchemeSwitch />
        <button type="button" class="nav-item" onClick={() => props.onHelp()}>
          <Icon name="keyboard" />
          Keyboard <kbd aria-hidden="true">?</kbd>
        </button>
        <button type="button" class="nav-item" onClick={() => void signOut()}>
          <Icon name="signOut" />
          Sign out <span class="operator">{session.value?.operator}</span>
        </button>
      </div>
    </div>
  );
}

async function signOut(): Promise<void> {
  try {
    await api.logout();
    session.value = null;
  } catch (error) {
    toast({ tone: 'danger', text: asRefusal(error).message });
  }
}
