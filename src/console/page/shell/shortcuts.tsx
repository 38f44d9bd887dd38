import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { LIST_KEYS } from '../messages/list-keys.ts';
import { MESSAGE_KEYS } from '../message/message-keys.ts';
import { QUEUE } from '../platform/addresses.ts';
import { QUEUE_KEYS, TICKET_KEYS } from '../platform/desk/desk-keys.ts';
import { desk, isDeskOnly } from '../stream.ts';
import { useChord, useKeys } from '../ui/keys.ts';
import { Dialog } from '../ui/overlays.tsx';

/** The pages of the navigation; `key` follows the `g` of a shortcut. */
export const PAGES = [
  { key: 'o', path: '/', name: 'Overview', icon: 'overview' },
  { key: 'm', path: '/messages', name: 'Messages', icon: 'messages' },
  { key: 'p', path: '/platform', name: 'Platform', icon: 'platform' },
  { key: 'i', path: '/incidents', name: 'Incidents', icon: 'alert' },
  { key: 'c', path: '/configuration', name: 'Configuration', icon: 'configuration' },
  { key: 'e', path: '/people', name: 'A person’s data', icon: 'person' },
  { key: 'a', path: '/audit', name: 'Audit', icon: 'audit' },
  { key: 'd', path: '/doctor', name: 'Doctor', icon: 'doctor' },
] as const;

/** The pages that the person may use. */
export const ownPages = (): readonly (typeof PAGES)[number][] =>
  PAGES.filter(({ path }) => !isDeskOnly.value || path === '/platform');

/** Where a page begins: the Platform with what waits for a person, if there is a desk. */
export function hrefOf(path: string): string {
  if (path !== '/platform') return path;
  // Until the gateway has told of the shops, somebody at the desk is assumed to have one.
  const shops = desk.value?.shops;
  const hasQueue = shops === undefined ? isDeskOnly.value : shops.some(({ isLocal }) => isLocal);
  return hasQueue ? QUEUE : path;
}

/** `g` and a letter open a page, `/` focuses the search, `?` lists the shortcuts. */
export function useShortcuts() {
  const [isOpen, setOpen] = useState(false);
  const { route } = useLocation();
  const isSecond = useChord();
  useKeys((event) => {
    const target = isSecond(event) ? ownPages().find(({ key }) => key === event.key) : undefined;
    if (target !== undefined) route(hrefOf(target.path));
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

const keys = (): readonly Key[] => [
  ...ownPages().map(({ key, name }): Key => [['g', key], name]),
  [['Ctrl', 'K'], 'Go to a page, a shop, a person or a message'],
  [['/'], 'Search'],
  [['?'], 'Show keyboard shortcuts'],
  [['Esc'], 'Close'],
  ...(isDeskOnly.value
    ? []
    : [...LIST_KEYS.map(within('Messages')), ...MESSAGE_KEYS.map(within('Message'))]),
  ...QUEUE_KEYS.map(within('Queue')),
  ...TICKET_KEYS.map(within('Ticket')),
];

type Key = readonly [keys: readonly string[], what: string];
/** The words of a key that works on one page. */
function within(page: string): (key: Key) => Key {
  return ([pressed, what]) => [pressed, `${page}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`];
}

export const ShortcutHelp = (props: { readonly open: boolean; onClose(): void }) => (
  <Dialog open={props.open} title="Keyboard" onClose={() => props.onClose()}>
    <dl class="keys rows">
      {keys().map(([pressed, what]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            {pressed.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
