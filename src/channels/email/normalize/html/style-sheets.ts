import { DOUBTFUL, longhands } from './css-properties.ts';
import { declarations, plainCss, statements } from './css-syntax.ts';

type Attributes = Readonly<Record<string, string>>;

/** A declared value; a higher rank replaces a lower one. */
interface Ranked {
  readonly value: string;
  readonly rank: number;
}
/** The declaration of each property that counts. */
export type Declared = ReadonlyMap<string, Ranked>;

/** Real mail has a few hundred; later rules are not read. */
const MAX_SELECTORS = 10_000;
/** `*`, `p`, `.a`, `#a`, `p.a` or `p#a`. */
const SIMPLE = /^(?:\*|[a-z][a-z\d]*|(?:[a-z][a-z\d]*)?[.#][\w\u0080-\uffff-]+)$/i;

/** Each outweighs 99 of the next (CSS Cascade §6.1, Selectors §15). */
const IMPORTANT = 10_000_000;
const INLINE = 1_000_000;
const ID = 10_000;
const CLASS = 100;
/** More than the declarations of a document; at equal weight, the later one counts. */
const LATEST = 2 ** 24;

/**
 * The rules of a document's `style` elements, weighed with attributes and inline styles as CSS does.
 * Only rules for a class, an id, an element, or both are read, and none of `@media` and other
 * at-rules. Rules with other selectors hide nothing; what they may show is in doubt.
 *
 * Linear: at most 10,000 selectors are read. The rules for one name are merged into at most one
 * declaration for each property of `longhands`, and an element looks up only its own names.
 */
export class StyleSheets {
  readonly #rules = new Map<string, Map<string, Ranked>>();
  /** Newsletters repeat a few inline styles. */
  readonly #inline = new Map<string, Declared>();
  #selectors = 0;
  #order = 0;

  add(css: string): void {
    for (const { head, block } of statements(plainCss(css), true)) {
      if (block === undefined || /^\s*@/.test(head)) continue;
      const declared = this.#read(block, 0);
      if (declared.size === 0) continue;
      for (const selector of head.split(',')) {
        this.#selectors += 1;
        if (this.#selectors > MAX_SELECTORS) return;
        this.#addRule(selector.trim().replace(/^\*(?=[.#])/, ''), declared);
      }
    }
  }

  /** What counts for an element. */
  declared(tag: string, attributes: Attributes): Declared {
    const { style = '' } = attributes;
    const hinted = hints(tag, attributes);
    const found = hinted === '' ? new Map<string, Ranked>() : this.#read(hinted, 0, 0);
    if (this.#rules.size > 0) {
      for (const name of namesOf(tag, attributes)) merge(found, this.#rules.get(name) ?? []);
    }
    const inline = this.#inline.get(style) ?? this.#read(plainCss(style), INLINE);
    this.#inline.set(style, inline);
    return found.size === 0 ? inline : merge(found, inline);
  }

  #read(block: string, weight: number, order?: number): Map<string, Ranked> {
    const found = new Map<string, Ranked>();
    for (const { name, value, isImportant } of declarations(block)) {
      this.#order += 1;
      const rank = (weight + (isImportant ? IMPORTANT : 0)) * LATEST + (order ?? this.#order);
      merge(
        found,
        longhands(name, value).map(([each, one]) => [each, { value: one, rank }]),
      );
    }
    return found;
  }

  #addRule(selector: string, declared: Declared): void {
    const isSimple = SIMPLE.test(selector);
    const last = selector.split(/[\s>+~]/).at(-1) ?? '';
    // Such a part stands for any element, or for something beside the element.
    if (!isSimple && /[[*]|::|:(?:before|after|first-l)/.test(last)) return;
    const [part = ''] = last.split(':', 1);
    const tag = /^(?:\*|[a-z\d]*)/i.exec(part)?.[0].toLowerCase() ?? '';
    const named = part.match(/[.#][^.#]+/g)?.at(-1) ?? '';
    const name = isSimple || named === '' ? `${tag}${named}` : named;
    const weight =
      ID * count(selector, /#/g) +
      CLASS * count(selector, /[.:[]/g) +
      count(selector, /(?:^|[\s>+~])[a-z]/gi);
    const ranked = [...declared].map(([each, { value, rank }]): [string, Ranked] => [
      each,
      { value: isSimple ? value : DOUBTFUL, rank: rank + weight * LATEST },
    ]);
    this.#rules.set(name, merge(this.#rules.get(name) ?? new Map<string, Ranked>(), ranked));
  }
}

function merge(
  into: Map<string, Ranked>,
  from: Iterable<readonly [string, Ranked]>,
): Map<string, Ranked> {
  for (const [name, each] of from) {
    if (each.rank >= (into.get(name)?.rank ?? 0)) into.set(name, each);
  }
  return into;
}

const count = (text: string, pattern: RegExp): number =>
  Math.min(text.match(pattern)?.length ?? 0, 99);

/** The names by which rules can mean an element. */
function* namesOf(tag: string, { id, class: classes }: Attributes): Generator<string> {
  yield '*';
  yield tag;
  const names = classes?.split(/\s+/).map((each) => `.${each}`) ?? [];
  for (const name of id === undefined ? names : [...names, `#${id}`]) {
    yield name;
    yield `${tag}${name}`;
  }
}

/** What attributes declare, as CSS: less than any rule (HTML §15.2 and §15.3). */
function hints(tag: string, attributes: Attributes): string {
  const { hidden, bgcolor, background, color, text, size, width = '', height = '' } = attributes;
  const found = hidden === undefined ? [] : ['display:none'];
  if (tag === 'font') {
    if (color !== undefined) found.push(`color:${colorWord(color)}`);
    // Each size of this attribute is legible.
    if (size !== undefined) found.push('font-size:medium');
  } else if (/^(?:table|tbody|thead|tfoot|tr|td|th|body)$/.test(tag)) {
    if (bgcolor !== undefined) found.push(`background-color:${colorWord(bgcolor)}`);
    if (background !== undefined) found.push('background-image:url()');
    if (tag === 'body' && text !== undefined) found.push(`color:${colorWord(text)}`);
    if (/^t[dh]$/.test(tag) && Number.parseFloat(width) === 0) found.push('width:0');
    if (/^t[dh]$/.test(tag) && Number.parseFloat(height) === 0) found.push('height:0');
  }
  return found.join(';');
}

/** A color of an attribute, with or without `#` (HTML §2.3.6). */
function colorWord(attribute: string): string {
  const word = attribute.trim().slice(0, 40);
  return /^[\da-f]{6}$/i.test(word) ? `#${word}` : word.replace(/[^#\w]/g, ' ');
}
