import type { DefaultTreeAdapterTypes } from 'parse5';

type Element = DefaultTreeAdapterTypes.Element;

/** Types whose value is not shown. */
const UNSHOWN = /^(?:hidden|password|file|image|color|range)$/i;

/**
 * What a field of a form shows: the mark of a box, the value of a field, the chosen options. Undefined
 * for any other element; a `textarea` is read as preformatted text.
 */
export function shownValue(node: Element): string | undefined {
  if (node.tagName === 'select') return ` ${chosenOptions(node).map(labelOf).join(', ')} `;
  if (node.tagName !== 'input') return undefined;
  const type = attribute(node, 'type') ?? 'text';
  if (/^(?:checkbox|radio)$/i.test(type)) {
    return attribute(node, 'checked') === undefined ? ' [ ] ' : ' [x] ';
  }
  return UNSHOWN.test(type) ? '' : ` ${attribute(node, 'value') ?? ''} `;
}

const attribute = ({ attrs }: Element, name: string): string | undefined =>
  attrs.find((each) => each.name === name)?.value;

/** Without a choice, a list of one line shows its first option (HTML §4.10.7). */
function chosenOptions(select: Element): readonly Element[] {
  const options = optionsIn(select);
  const selected = options.filter((option) => attribute(option, 'selected') !== undefined);
  if (attribute(select, 'multiple') !== undefined) return selected;
  if (selected.length > 0) return selected.slice(-1);
  return Number(attribute(select, 'size') ?? 1) > 1 ? [] : options.slice(0, 1);
}

const optionsIn = ({ childNodes }: Element): readonly Element[] =>
  childNodes.flatMap((child) => {
    if (child.nodeName === 'option' && 'attrs' in child) return [child];
    return child.nodeName === 'optgroup' && 'attrs' in child ? optionsIn(child) : [];
  });

const labelOf = (option: Element): string =>
  attribute(option, 'label') ??
  option.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
