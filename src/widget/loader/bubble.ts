import { button, el, icon } from './dom.ts';

/** A card beside the launcher: the greeting, or that the chat could not be loaded. */
export function createBubble(options: {
  readonly text: string;
  readonly dismissLabel: string;
  readonly role: 'note' | 'alert';
  readonly onClick: () => void;
  readonly onDismiss: () => void;
}): HTMLElement {
  const { text, dismissLabel, role, onClick, onDismiss } = options;
  const say = button({ class: 'words', dir: 'auto' }, text);
  const cross = button(
    { class: 'cross', 'aria-label': dismissLabel },
    icon('x', 'M7 7l10 10M17 7L7 17'),
  );
  say.onclick = onClick;
  cross.onclick = onDismiss;
  return el('div', { class: 'card', role }, say, cross);
}
