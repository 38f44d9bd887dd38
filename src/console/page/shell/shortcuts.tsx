import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { LIST_KEYS } from '../messages/list-keys.ts';
import { MESSAGE_KEYS } from '../message/message-keys.ts';
import { useChord, useKeys } from '../ui/keys.ts';
import { Dialog } from '../ui/overlays.tsx';

/** The pages of the navigation; `key` follows the `g` of a shortcut. */
export const PAGES = [
  { key: 'o', path: '/', name: 'Overview', icon: 'overview' },
  { key: 'm', path: '/messages', name: 'Messages', icon: 'messages' },
  { key: 'p', path: '/platform', name: 'Platform', icon: 'platform' },
  { key: 'i', path: '/incidents', name: 'Incidents', icon: 'alert' },
  { key: 'c', path: '/configuration', name: 'Configuration', icon: 'configuration' },
  { key: 'a', path: '/audit', name: 'Audit', icon: 'audit' },
  { key: 'd', path: '/doctor', name: 'Doctor', icon: 'doctor' },
] as const;

/** `g` and a letter open a page, `/` focuses the search, `?` lists the shortcuts. */
export function useShortcuts() {
  const [isOpen, setOpen] = useState(false);
  const { route } = useLocation();
  const isSecond = useChord();
  useKeys((event) => {
    const target = isSecond(event) ? PAGES.find(({ key }) => key === event.key) : undefined;
    if (target !== undefined) route(target.path);
    else if (event.key === '?') setOpen(true);
    else return event.key === '/' && focusSearch();
    return true;
  });
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('[data-search]');
  search?.focus();
  search?.select();
  return search !== null;
}

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  ...PAGES.map(({ key, name }) => [['g', key], name] as const),
  [['Ctrl', 'K'], 'Go to a page, a shop, a person or a message'],
  [['/'], 'Search'],
  [['?'], 'Show keyboard shortcuts'],
  [['Esc'], 'Close'],
  ...LIST_KEYS.map(within('Messages')),
  ...MESSAGE_KEYS.map(within('Message')),
];

type Key = readonly [keys: readonly string[], what: string];
/** The words of a key that works on one page. */
function within(page: string): (key: Key) => Key {
  return ([keys, what]) => [keys, `${page}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`];
}

export const ShortcutHelp = (props: { readonly open: boolean; onClose(): void }) => (
  <Dialog open={props.open} title="Keyboard" onClose={() => props.onClose()}>
    <dl class="keys rows">
      {KEYS.map(([keys, what]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
