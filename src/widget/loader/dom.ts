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
