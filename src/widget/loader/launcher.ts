const BUBBLE =
  'M12 3.5c-5 0-9 3.5-9 7.8 0 2.2 1 4.1 2.8 5.6.1 1.2-.4 2.3-1.2 3.2a.5.5 0 0 0 .4.8c1.9-.1 3.5-.8 4.6-1.8.8.2 1.6.3 2.4.3 5 0 9-3.6 9-8.1 0-4.3-4-7.8-9-7.8Z';
const CHEVRON = 'M5.5 9l6.5 6.5L18.5 9';

/** The round button in the corner of the page. */
export function createLauncher(openLabel: string) {
  const badge = el('span', { class: 'badge', 'aria-hidden': 'true' });
  const launcher = button(
    { class: 'launcher' },
    icon('bubble', BUBBLE),
    icon('chevron', CHEVRON),
    badge,
  );
  return {
    launcher,
    /** @param label what it does now, and what is unread; the panel's words, once it is there */
    draw: (open: boolean, unread: number, label = openLabel): void => {
      launcher.setAttribute('aria-expanded', String(open));
      launcher.setAttribute('aria-label', label);
      badge.textContent = String(unread);
      badge.hidden = open || unread === 0;
    },
  };
}

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

type Attributes = Readonly<Record<string, string>>;

const SVG = 'http://www.w3.org/2000/svg';

function dressed<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly (Node | string)[],
): E {
  for (const name in attributes) element.setAttribute(name, attributes[name] ?? '');
  element.append(...children);
  return element;
}

/** An element with attributes and children; texts become text nodes. */
export const el = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] => dressed(document.createElement(name), attributes, children);

export const button = (
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLButtonElement => el('button', { type: 'button', ...attributes }, ...children);

/** A 24 × 24 picture of strokes. */
export const icon = (name: string, d: string): SVGElement =>
  dressed(
    document.createElementNS(SVG, 'svg'),
    { viewBox: '0 0 24 24', class: name, 'aria-hidden': 'true' },
    [dressed(document.createElementNS(SVG, 'path'), { d }, [])],
  );
