import type { Alternative } from '../parts/body-parts.ts';
import { type HtmlText, type PlainText, decodeHtml, readHtml, readPlain } from './body-text.ts';
import { textUpperBound } from '../html/html-scan.ts';
import { visibleLength } from '../html/html-tree.ts';
import type { Leaf } from '../parts/read-parts.ts';

export type BodyMode = 'auto' | 'html' | 'text';

/** Under this share of what the HTML shows, the plain text is not what was written. */
const SUBSTANTIAL = 0.3;
/** What a stub says instead of the message, in the usual languages. */
const STUB_WORDS = [
  'in your browser',
  'view online',
  'view this email',
  'view it online',
  'web version',
  'html version',
  'html-enabled',
  'does not support html',
  "doesn't support html",
  'im browser',
  'webversion',
  'html-format',
  'dans votre navigateur',
  'version en ligne',
  'en el navegador',
  'en su navegador',
  'nel browser',
  'nel tuo browser',
  'in je browser',
  'in uw browser',
  'no navegador',
  'no seu navegador',
  'w przeglądarce',
  'i din webbläsare',
  'i din browser',
  'i nettleseren',
  'selaimessa',
  'v prohlížeči',
  'tarayıcı',
  'в браузере',
  'ブラウザで',
  '在浏览器中',
];
const MAX_STUB_LENGTH = 400;

/** A stretch of the body in the form that was chosen. */
export type Chosen =
  | ({ readonly kind: 'plain'; readonly leaf: Leaf } & PlainText)
  | ({ readonly kind: 'html'; readonly leaf: Leaf } & HtmlText);

/**
 * `auto` and `text`: the plain text unless it is a stub; `html`: the HTML if there is one.
 * A stub is empty, says "view in browser", or has under 30 % of the text that the HTML shows.
 */
export function chooseBody(alternative: Alternative, mode: BodyMode): readonly Chosen[] {
  const plain = alternative.plain.map(chosenPlain);
  if (alternative.html.length === 0) return plain;
  const wantsHtml = mode === 'html' || plain.length === 0 || saysNothing(plain);
  const written = wantsHtml ? 0 : sum(plain, ({ text }) => textLength(text));
  // Enough text even if all bytes of the HTML were letters: no need to decode it.
  if (!wantsHtml && written >= SUBSTANTIAL * sum(alternative.html, bytesOf)) return plain;
  const forms = alternative.html.map(decodeForm);
  if (wantsHtml) return forms.map(toChosen);
  // Or if nothing of it were hidden: no need to parse it.
  if (written >= SUBSTANTIAL * sum(forms, ({ text }) => textUpperBound(text))) return plain;
  const html = forms.map(toChosen);
  return written < SUBSTANTIAL * sum(html, shownLength) ? html : plain;
}

interface Decoded extends PlainText {
  readonly leaf: Leaf;
}

function decodeForm(leaf: Leaf): Decoded {
  return { leaf, ...(leaf.contentType === 'text/html' ? decodeHtml(leaf) : readPlain(leaf)) };
}

function toChosen(form: Decoded): Chosen {
  const { leaf } = form;
  return leaf.contentType === 'text/html'
    ? { kind: 'html', leaf, ...readHtml(form) }
    : { kind: 'plain', ...form };
}

function chosenPlain(leaf: Leaf): Extract<Chosen, { kind: 'plain' }> {
  return { kind: 'plain', leaf, ...readPlain(leaf) };
}

function saysNothing(plain: readonly PlainText[]): boolean {
  const text = plain
    .map((each) => each.text)
    .join('\n')
    .trim();
  if (text === '') return true;
  if (text.length > MAX_STUB_LENGTH) return false;
  const lower = text.toLowerCase();
  return STUB_WORDS.some((words) => lower.includes(words));
}

/** No charset has more UTF-16 units than bytes. */
const bytesOf = ({ content }: Leaf): number => content.size;

function shownLength(chosen: Chosen): number {
  return chosen.kind === 'html' ? visibleLength(chosen.tree) : textLength(chosen.text);
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Without white space, as `textUpperBound` counts. */
function textLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code !== 0xa0 && code !== 0x3000) length += 1;
  }
  return length;
}
