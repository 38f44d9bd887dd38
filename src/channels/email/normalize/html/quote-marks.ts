import { type HtmlElement, styleOf } from './html-tree.ts';
import type { Mark } from '../quotes/lines.ts';

/**
 * Classes with which mail clients mark the quoted message. Those of Gmail and Thunderbird
 * (`moz-cite-prefix`) mark the attribution line; `zmail_extra` is Zoho's, `nylas-quote` Mailspring's.
 */
const QUOTE_CLASSES: ReadonlySet<string> = new Set(
  `gmail_attr yahoo_quoted moz-cite-prefix protonmail_quote tutanota_quote zmail_extra
  front-blockquote-wrapper missive_quote nylas-quote`.split(/\s+/),
);
/**
 * Ids after which everything is the quoted message (some versions of Outlook add the prefix x_).
 * `zwchr` is Zimbra's, `olk_src_body_section` that of Outlook for Mac.
 */
const REST_IDS: ReadonlySet<string> = new Set(
  `divrplyfwdmsg mail-editor-reference-message-container appendonsend zwchr
  olk_src_body_section`.split(/\s+/),
);
/** `zm-_id_-sgn` is Zoho's, `composer_signature` Samsung's, `_rc_sig` Roundcube's. */
const SIGNATURE_NAMES: ReadonlySet<string> = new Set(
  `gmail_signature moz-signature protonmail_signature_block ms-outlook-mobile-signature signature
  zm-_id_-sgn front-signature fairemail_signature ymail_android_signature ymail_ios_signature
  applemailsignature composer_signature _rc_sig`.split(/\s+/),
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
 * "From:" in the languages of Outlook. Fewer words than in a header block of plain text, because a
 * caption of a form can look the same and everything after it would be trimmed.
 */
const FROM_LABEL =
  /^\s*(?:From|Von|De|Da|Van|Od|Från|Fra|Lähettäjä|Kimden|От|Від|Από|מאת|من|보낸 사람|差出人|发件人|寄件者|Feladó|De la)\s*[:：]/i;

/** How the client marked an element's text, or the text after it. */
export function quoteMark(element: HtmlElement): Mark | undefined {
  const { name, attributes } = element;
  const classes = (attributes['class'] ?? '').slice(0, 500).toLowerCase().split(/\s+/);
  const id = (attributes['id'] ?? '')
    .slice(0, 100)
    .toLowerCase()
    .replace(/^(?:x_)+/, '');
  if (REST_IDS.has(id)) return 'rest';
  if (id.startsWith('yahoo_quoted')) return 'quote';
  if (SIGNATURE_NAMES.has(id)) return 'signature';
  if (name === 'blockquote') {
    const cited = attributes['type']?.toLowerCase() === 'cite' || classes.includes('gmail_quote');
    if (cited) return 'quote';
  }
  for (const each of classes) {
    if (QUOTE_CLASSES.has(each)) return 'quote';
    if (SIGNATURE_NAMES.has(each)) return 'signature';
  }
  for (const attribute of MARKING_ATTRIBUTES) {
    const value = attributes[attribute]?.slice(0, 100).toLowerCase();
    const mark = value === undefined ? undefined : NAMED_MARKS.get(`${attribute}=${value}`);
    if (mark !== undefined) return mark;
  }
  return isOutlookHeader(element) ? 'rest' : undefined;
}

/**
 * Outlook for Windows: `border-top:solid #E1E1E1 1.0pt` around "From: … Sent: … To: …", in the
 * client's language.
 */
function isOutlookHeader(element: HtmlElement): boolean {
  const style = element.attributes['style'];
  if (element.name !== 'div' || style?.includes('border-top') !== true) return false;
  const border = styleOf(style).get('border-top');
  return border?.includes('solid') === true && FROM_LABEL.test(firstText(element, 100));
}

function firstText(element: HtmlElement, length: number): string {
  let text = '';
  const stack: (HtmlElement | string)[] = [element];
  for (let steps = 0; steps < 50 && text.length < length; steps += 1) {
    const node = stack.pop();
    if (node === undefined) break;
    if (typeof node === 'string') text += node.slice(0, length);
    else for (const child of node.children.slice(0, 20).reverse()) stack.push(child);
  }
  return text.trimStart();
}
