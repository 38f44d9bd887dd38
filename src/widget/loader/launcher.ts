const SPEECH_BUBBLE =
  'M12 3.5c-5 0-9 3.5-9 7.8 0 2.2 1 4.1 2.8 5.6.1 1.2-.4 2.3-1.2 3.2a.5.5 0 0 0 .4.8c1.9-.1 3.5-.8 4.6-1.8.8.2 1.6.3 2.4.3 5 0 9-3.6 9-8.1 0-4.3-4-7.8-9-7.8Z';

/** The round button in the corner of the page. The main part draws more on it, and names it anew. */
export const createLauncher = (): HTMLButtonElement =>
  createButton({ class: 'launcher', 'aria-expanded': 'false' }, icon('bubble', SPEECH_BUBBLE));

/** A card beside the launcher: the greeting, or a notice that the chat could not be loaded. */
export function createCard(
  role: 'note' | 'alert',
  text: string,
  dismissLabel: string,
  onClick: () => void,
  onDismiss: () => void,
): HTMLElement {
  const words = createButton({ class: 'words', dir: 'auto' }, text);
  const cross = createButton(
    { class: 'cross', 'aria-label': dismissLabel },
    icon('x', 'M7 7l10 10M17 7L7 17'),
  );
  words.onclick = onClick;
  cross.onclick = onDismiss;
  return el('div', { class: 'card', role }, words, cross);
}

type Attributes = Readonly<Record<string, string>>;

const SVG = 'http://www.w3.org/2000/svg';

function withAttributes<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly (Node | string)[],
): E {
  for (const name in attributes) element.setAttribute(name, attributes[name] ?? '');
  element.append(...children);
  return element;
}

/** Creates an element with attributes and children; strings become text nodes. */
export const el = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] =>
  withAttributes(document.createElement(name), attributes, children);

const createButton = (
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLButtonElement => el('button', { type: 'button', ...attributes }, ...children);

/** Creates a 24 × 24 icon from the path `d`. */
const icon = (name: string, d: string): SVGElement =>
  withAttributes(
    document.createElementNS(SVG, 'svg'),
    { viewBox: '0 0 24 24', class: name, 'aria-hidden': 'true' },
    [withAttributes(document.createElementNS(SVG, 'path'), { d }, [])],
  );
