import { styleOf } from './css-syntax.ts';
import type { HtmlElement } from './html-tree.ts';
import { holdsHeaderFields } from '../quotes/headings.ts';
import type { Mark } from '../quotes/lines.ts';

/**
 * Classes with which mail clients mark the quoted message. Those of Gmail and Thunderbird
 * (`moz-cite-prefix`) mark the attribution line; `zmail_extra` is Zoho's, `nylas-quote` and
 * `gmail_quote_attribution` Mailspring's, `history_container` Mailbird's.
 */
const QUOTE_CLASSES: ReadonlySet<string> = new Set(
  `gmail_attr gmail_quote_attribution yahoo_quoted moz-cite-prefix protonmail_quote tutanota_quote
  zmail_extra front-blockquote-wrapper missive_quote missive_quote_header nylas-quote
  history_container`.split(/\s+/),
);
/** Ids of quotes: Roundcube's attribution, NetEase's and Canary's quote. */
const QUOTE_IDS: ReadonlySet<string> = new Set([
  'reply-intro',
  'isreplycontent',
  'canaryblockquote',
]);
/**
 * Ids after which everything is the quoted message.
 * `zwchr` is Zimbra's, `olk_src_body_section` that of Outlook for Mac, `stopspelling` Hotmail's.
 */
const REST_IDS: ReadonlySet<string> = new Set(
  `divrplyfwdmsg mail-editor-reference-message-container appendonsend zwchr
  olk_src_body_section stopspelling`.split(/\s+/),
);
/**
 * `zm-_id_-sgn` is Zoho's, `composer_signature` Samsung's, `_rc_sig` Roundcube's, `aqm-signature` Aqua
 * Mail's, `bloop_sign` Airmail's, `edo-signature` Edison's; the last is Avast's line.
 */
const SIGNATURE_NAMES: ReadonlySet<string> = new Set(
  `gmail_signature moz-signature protonmail_signature_block ms-outlook-mobile-signature signature
  zm-_id_-sgn front-signature fairemail_signature ymail_android_signature ymail_ios_signature
  applemailsignature composer_signature _rc_sig gmail_signature_prefix missive_signature
  aqm-signature k9mail-signature bloop_sign edo-signature spark_signature
  dab4fad8-2dd7-40bb-a1b8-4e2aa1f9fdf2`.split(/\s+/),
);
/** Marks of other clients in the attributes `name`, `data-marker` and so on. */
const NAMED_MARKS: ReadonlyMap<string, Mark> = new Map([
  ['name=quote', 'quote'], // GMX, Web.de
  ['name=messagereplysection', 'quote'], // Spark
  ['name=messagesignaturesection', 'signature'],
  ['data-marker=__quoted_text__', 'rest'], // Zimbra
  ['data-marker=__sig_pre__', 'signature'],
  ['data-marker=__sig_post__', 'signature'],
  ['data-signature-widget=container', 'signature'], // Mail.ru
]);
const MARKING_ATTRIBUTES = ['name', 'data-marker', 'data-signature-widget'];

/**
 * How the client marked an element's text, or the text after it. A blockquote's class and type are no
 * mark: the buttons with which people quote write the same.
 */
export function quoteMark(element: HtmlElement): Mark | undefined {
  const { name, attributes } = element;
  const classes = (attributes['class'] ?? '').slice(0, 500).toLowerCase().split(/\s+/);
  const id = withoutPrefix((attributes['id'] ?? '').slice(0, 100).toLowerCase());
  if (REST_IDS.has(id)) return 'rest';
  // Yahoo's newer ids and classes have a prefix: ydp1a2b3c4dyahoo_quoted_0123456789.
  const isYahoo = id.includes('yahoo_quoted') && /^(?:ydp[0-9a-z]{1,20})?yahoo_quoted/.test(id);
  if (isYahoo || QUOTE_IDS.has(id)) return 'quote';
  if (SIGNATURE_NAMES.has(id)) return 'signature';
  for (const each of classes) {
    const isQuote = name !== 'blockquote' && QUOTE_CLASSES.has(withoutPrefix(each));
    if (isQuote && !holdsAnswers(element)) return 'quote';
    if (SIGNATURE_NAMES.has(each)) return 'signature';
  }
  for (const attribute of MARKING_ATTRIBUTES) {
    const value = attributes[attribute]?.slice(0, 100).toLowerCase();
    const mark = value === undefined ? undefined : NAMED_MARKS.get(`${attribute}=${value}`);
    if (mark !== undefined) return mark;
  }
  return isOutlookHeader(element) ? 'rest' : undefined;
}

/** Some versions of Outlook prefix the names of what they quote. */
const withoutPrefix = (name: string): string => name.replace(/^(?:x_)+/, '');

/**
 * Whether a blockquote is the person's own text, indented with the editor's button: Gmail and Outlook
 * on the web write `margin:0 0 0 40px;border:none;padding:0px`.
 */
export function isIndented(element: HtmlElement): boolean {
  const { style, type, cite, class: classes = '' } = element.attributes;
  if (style === undefined || type !== undefined || cite !== undefined) return false;
  if (classes.includes('quote') || quoteMark(element) !== undefined) return false;
  const styles = styleOf(style);
  const border = styles.get('border') ?? 'none';
  const margin = styles.get('margin-left') ?? styles.get('margin') ?? '';
  return (
    /^(?:none|0)/.test(border) &&
    !style.includes('border-left') &&
    /(?:^|\s)[2-9]\dpx$/.test(margin.trim())
  );
}

/** The line break with which Apple's Mail begins its signature on iOS; its text has no mark. */
export function startsSignature({ attributes }: HtmlElement): boolean {
  return attributes['id'] === 'lineBreakAtBeginningOfSignature';
}

/**
 * Outlook for Windows: `border-top:solid #E1E1E1 1.0pt` around "From: … Sent: … To: …", in the
 * client's language.
 */
function isOutlookHeader(element: HtmlElement): boolean {
  const style = element.attributes['style'];
  if (element.name !== 'div' || style?.includes('border-top') !== true) return false;
  const border = styleOf(style).get('border-top');
  if (border?.includes('solid') !== true) return false;
  return holdsHeaderFields(firstText(element, 500));
}

const MAX_CHILDREN = 50;

/**
 * Proton puts the attribution and the quote into one element, and whoever answers between the quoted
 * lines writes into it too: behind a part of the quote.
 */
function holdsAnswers(element: HtmlElement): boolean {
  const children = element.children.slice(0, MAX_CHILDREN);
  const isBlockquote = (child: HtmlElement | string) =>
    typeof child !== 'string' && child.name === 'blockquote';
  const first = children.findIndex(isBlockquote);
  if (first === -1) return false;
  return children.slice(first + 1).some((child) => {
    if (isBlockquote(child)) return false;
    return (typeof child === 'string' ? child : firstText(child, 20)).trim() !== '';
  });
}

function firstText(element: HtmlElement, length: number): string {
  let text = '';
  const stack: (HtmlElement | string)[] = [element];
  for (let steps = 0; steps < 50 && text.length < length; steps += 1) {
    const node = stack.pop();
    if (node === undefined) break;
    if (typeof node === 'string') text += ` ${node.slice(0, length)}`;
    else for (const child of node.children.slice(0, 20).reverse()) stack.push(child);
  }
  return text.trimStart();
}
