import { useLocation } from 'preact-iso';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { chooseScheme } from '../scheme.tsx';
import { isDeskOnly, shopsWith } from '../stream.ts';
import { Input } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays.tsx';
import { chooseUtc, isUtc } from '../zone.ts';
import { type PaletteCommand, type PaletteItem, paletteItems } from './palette-items.ts';
import { hrefOf, ownPages } from './shortcuts.tsx';

/** Opens the palette with Ctrl+K, or ⌘K; also while a field has the focus. */
export function usePalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey) return;
      if (event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

interface PaletteProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onKeys: () => void;
  readonly onSignOut: () => void;
}

/** Finds a page, a shop, a message or a setting by words. */
export const Palette = (props: PaletteProps) => (
  <Dialog open={props.open} title="Go to" onClose={props.onClose}>
    <Finder {...props} />
  </Dialog>
);

function Finder({ onClose, onKeys, onSignOut }: PaletteProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { route } = useLocation();
  const field = useRef<HTMLDivElement>(null);
  const id = useId();
  const items = paletteItems(text, {
    pages: ownPages().map((page) => ({ ...page, path: hrefOf(page.path) })),
    ...{ shops: shopsWith(''), isUtc: isUtc.value, isDeskOnly: isDeskOnly.value },
  });
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => field.current?.querySelector('input')?.focus(), []);

  const run = (item: PaletteItem | undefined) => {
    if (item === undefined) return;
    onClose();
    if (item.kind === 'page') route(item.href);
    else COMMANDS[item.command]({ onKeys, onSignOut });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setAt((chosen + by + items.length) % Math.max(1, items.length));
    else if (event.key === 'Enter') run(items[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="palette" ref={field} onKeyDown={onKeyDown}>
      <Input
        label="Page, shop, address, number, id or command"
        placeholder="Page, shop, address, number, id or command"
        value={text}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={items.length > 0 ? `${id}-${chosen}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id={id} role="listbox" aria-label="Found">
        {items.map((item, index) => (
          <li
            key={item.label}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => run(item)}
          >
            <span class="ellipsis">{item.label}</span>
            {item.hint !== undefined && <kbd>{item.hint}</kbd>}
          </li>
        ))}
      </ul>
      {items.length === 0 && <p class="muted">Nothing found.</p>}
    </div>
  );
}

const COMMANDS: Readonly<
  Record<PaletteCommand, (props: Pick<PaletteProps, 'onKeys' | 'onSignOut'>) => void>
> = {
  utc: () => chooseUtc(true),
  local: () => chooseUtc(false),
  light: () => chooseScheme('light'),
  dark: () => chooseScheme('dark'),
  system: () => chooseScheme('system'),
  keys: ({ onKeys }) => onKeys(),
  signOut: ({ onSignOut }) => onSignOut(),
};
