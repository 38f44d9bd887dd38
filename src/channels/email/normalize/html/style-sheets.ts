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

/** Real mail has a few hundred. With more, no rule counts. */
const MAX_SELECTORS = 10_000;
const NAME = String.raw`-?[a-z_\u0080-\ufffc][\w\u0080-\ufffc-]*`;
/** `*`, `p`, `.a`, `#a`, `p.a` or `p#a`. */
const SIMPLE = new RegExp(String.raw`^(?:\*|[a-z][a-z\d]*|(?:\*|[a-z][a-z\d]*)?[.#]${NAME})$`, 'i');
/** A condition that every browser knows. */
const ATTRIBUTE = /\[[a-z-]{1,20}(?:[~|^$*]?="")?\]/gi;
const PSEUDO_CLASS = /:(?:before|after|hover|active|focus|link|checked|first-child|last-child)/gi;
const COMPOUND = new RegExp(String.raw`^(?:\*|[a-z][a-z\d]*)?(?:[.#]${NAME}|\?)*$`, 'i');
/** Whether every browser accepts the selector. */
const isValid = (selector: string): boolean =>
  selector
    .replace(/\s+/g, ' ')
    .split(/ ?[>+~] ?| /)
    .every(
      (part) =>
        part !== '' &&
        !part.includes('?') &&
        COMPOUND.test(part.replace('::', ':').replace(PSEUDO_CLASS, '?').replace(ATTRIBUTE, '?')),
    );
/** At-rules with rules inside, which count under a condition. */
const CONDITIONAL = /^@(?:media|supports|layer|container|scope|starting-style)(?![\w-])/i;
/** Printed, narrower than 700 px, or dark. */
const ELSEWHERE =
  /^(?:@media)?(?:only)?print|\(max-(?:device-)?width:[1-6]?\d{1,2}(?:px)?\)|\(prefers-color-scheme:dark\)/i;

/** Whether a media query certainly does not match where people read mail on a light, wide screen. */
export function isElsewhere(query: string): boolean {
  return ELSEWHERE.test(query.replace(/\s+/g, '')) && !/,|\bnot\b|\bor\b/i.test(query);
}

/** Each outweighs the next (CSS Cascade §6.1, Selectors §15). */
const IMPORTANT = 10_000_000;
const INLINE = 1_000_000;
/** The most that a rule of a sheet weighs. */
const IN_DOUBT = INLINE - 1;
const ID = 10_000;
const CLASS = 100;
/** More than the declarations of a document; at equal weight, the later one counts. */
const LATEST = 2 ** 24;

/**
 * The rules of a document's `style` elements, weighed with attributes and inline styles as CSS does.
 * Only rules for a class, an id, an element, or both hide. What any other rule declares is in doubt,
 * for all elements that may be meant: a rule with another selector, one that a browser may drop
 * because a selector of its list is invalid, one within `@media` and the like or within another rule.
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

  /** @param isConditional whether the sheet counts only in some windows */
  add(css: string, isConditional: boolean): void {
    this.#addRules(plainCss(css), isConditional, true);
  }

  #addRules(css: string, isConditional: boolean, isOutermost: boolean): void {
    for (const { head, block } of statements(css, true)) {
      if (block === undefined || this.#selectors > MAX_SELECTORS) continue;
      const start = head.trimStart();
      if (start.startsWith('@')) {
        // Blocks within blocks are not opened, so that reading stays linear.
        if (!CONDITIONAL.test(start) || isElsewhere(start)) continue;
        if (isOutermost) this.#addRules(block, true, false);
        else this.#addDoubts(block);
        continue;
      }
      const declared = this.#read(block, 0);
      if (declared.size > 0) this.#addRule(start, declared, isConditional);
      if (block.includes('{')) this.#addDoubts(block);
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

  #addRule(head: string, declared: Declared, isConditional: boolean): void {
    const whole = head.split(',').map((each) => each.trim());
    const isCertain = !isConditional && whole.every(isValid);
    for (const selector of isCertain ? whole : outsideBrackets(head).split(',')) {
      this.#selectors += 1;
      if (isCertain && SIMPLE.test(selector)) this.#set(selector, declared);
      else if (!PSEUDO_ELEMENT.test(selector))
        this.#set(nameIn(outsideBrackets(selector)), doubtful(declared));
    }
    if (this.#selectors > MAX_SELECTORS) this.#rules.clear();
  }

  /** What is declared anywhere in the block is in doubt for every element. */
  #addDoubts(block: string): void {
    this.#set('*', doubtful(this.#read(block.replace(/[{}]/g, ';'), 0)));
  }

  #set(selector: string, declared: Declared): void {
    const name = selector.replace(/^[a-z\d]+/i, (tag) => tag.toLowerCase()).replace(/^\*(?=.)/, '');
    const mark = /[.#]/.exec(name);
    const weight =
      mark === null
        ? Number(name !== '*')
        : (mark[0] === '#' ? ID : CLASS) + Number(mark.index > 0);
    const ranked = [...declared].map(([each, { value, rank }]): [string, Ranked] => [
      each,
      { value, rank: value === DOUBTFUL ? rank : rank + weight * LATEST },
    ]);
    this.#rules.set(name, merge(this.#rules.get(name) ?? new Map<string, Ranked>(), ranked));
  }
}

/** Something beside the element, other than its first letter or line. */
const PSEUDO_ELEMENT = /::(?!first-)[\w-]+\s*$|:(?:before|after)\s*$/i;

/** The declarations, which may count or not; they cannot show anything by `display: none`. */
function doubtful(declared: Declared): Declared {
  const found = new Map<string, Ranked>();
  for (const [name, { value, rank }] of declared) {
    if (name === 'display' && value === 'none') continue;
    found.set(name, { value: DOUBTFUL, rank: rank + IN_DOUBT * LATEST });
  }
  return found;
}

/** Selectors without what their brackets contain. */
function outsideBrackets(head: string): string {
  let [kept, depth, start] = ['', 0, 0];
  for (const { 0: mark, index } of head.matchAll(/[()[\]]/g)) {
    if (depth === 0) kept += head.slice(start, index);
    depth = Math.max(0, depth + (mark === '(' || mark === '[' ? 1 : -1));
    start = index + 1;
  }
  return depth === 0 ? kept + head.slice(start) : kept;
}

/** A name that each element has for which the selector can stand. */
function nameIn(selector: string): string {
  const last =
    selector
      .trim()
      .replace(/:root$/i, 'html')
      .split(/[\s>+~|]+/)
      .at(-1) ?? '';
  const [part = ''] = last.split(':', 1);
  return part.match(/[.#][^.#&]+/g)?.at(-1) ?? /^[a-z][^.#&]*/i.exec(part)?.[0] ?? '*';
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

/** The names by which rules can mean an element. */
function* namesOf(tag: string, { id, class: classes }: Attributes): Generator<string> {
  yield '*';
  yield tag;
  // As `plainCss` leaves an escaped character.
  const plain = (each: string) => each.replace(/[^\w\u0080-\u{10ffff}-]/gu, '\ufffd');
  const names = classes?.split(/\s+/).map((each) => `.${plain(each)}`) ?? [];
  for (const name of id === undefined ? names : [...names, `#${plain(id)}`]) {
    yield name;
    yield `${tag}${name}`;
  }
}

/** What attributes declare, as CSS: less than any rule (HTML §15.2 and §15.3). */
function hints(tag: string, attributes: Attributes): string {
  const { hidden, bgcolor, background, color, text, size, width, height } = attributes;
  const found = hidden === undefined ? [] : ['display:none'];
  if (tag === 'font') {
    if (color !== undefined) found.push(`color:${colorWord(color)}`);
    // Each size of this attribute is legible.
    if (size !== undefined) found.push('font-size:medium');
  } else if (/^(?:table|tbody|thead|tfoot|tr|td|th|body)$/.test(tag)) {
    if (bgcolor !== undefined) found.push(`background-color:${colorWord(bgcolor)}`);
    if (background !== undefined) found.push('background-image:url()');
    if (tag === 'body' && text !== undefined) found.push(`color:${colorWord(text)}`);
  }
  if (/^(?:svg|g|text|tspan|textPath)$/.test(tag)) {
    for (const [name, value] of Object.entries(attributes)) {
      const property = DRAWN_AS.get(name);
      const number = property === 'font-size' && /^[\d.]{1,20}$/.test(value) ? `${value}px` : value;
      if (property !== undefined)
        found.push(`${property}:${number.slice(0, 40).replace(/[;{}]/g, ' ')}`);
    }
    if (tag === 'svg' && [width, height].includes('0')) found.push('display:none');
    if (attributes['fill'] === 'none') found.push('color:transparent');
  }
  return found.join(';');
}

/** Attributes of a drawing that are properties (SVG 2 §6.6); text has the color that it is filled with. */
const DRAWN_AS: ReadonlyMap<string, string> = new Map([
  ...['display', 'visibility', 'opacity', 'font-size'].map((name) => [name, name] as const),
  ['fill-opacity', 'opacity'],
  ['fill', 'color'],
]);

/** A color of an attribute, with or without `#` (HTML §2.3.6). */
function colorWord(attribute: string): string {
  const word = attribute.trim().slice(0, 40);
  return /^[\da-f]{6}$/i.test(word) ? `#${word}` : word.replace(/[^#\w]/g, ' ');
}
