import { NO_TEXT } from '../../../../domain/no-text.ts';
import { submittable } from '../../normalize/content.ts';
import * as whatsapp from '../../normalize/whatsapp-words.ts';
import type { TextMessage } from '../../provider.ts';

/**
 * A message of any type in words (Meta, WhatsApp Cloud API, "messages webhook reference"). Members
 * that are missing, or not of the documented type, are left out.
 * @param ours the shop's number, in E.164
 */
export function readContent(
  message: unknown,
  ours: string,
): Pick<TextMessage, 'body' | 'words' | 'context' | 'media' | 'isNotice'> {
  const type = textAt(message, 'type') ?? '';
  const content = at(message, type);
  const corrected = at(content, 'message');
  if (type === 'edit' && textAt(corrected, 'type') !== 'edit') {
    const line = `[Corrects ${originalIn(content)}]`;
    const { context, ...rest } = readContent(corrected, ours);
    // Its medium was submitted with the original.
    return { ...rest, context: [line, ...context], media: [] };
  }
  const said = SAID.get(type)?.(content);
  const [url, contentType] = [textAt(content, 'id'), textAt(content, 'mime_type')];
  const origin = whatsapp.originLines(originOf(message, ours));
  return {
    body: said ?? '',
    words: submittable(said ?? '') ?? NO_TEXT,
    context: [
      ...(SAID.has(type) ? linesOf(message, content) : unsupported(message, type)),
      ...origin,
    ],
    media: url === undefined || !MEDIA.includes(type) ? [] : [{ url, contentType }],
    isNotice: NOTICES.has(type),
  };
}

const MEDIA = ['image', 'video', 'audio', 'document', 'sticker'];
const NOTICES: ReadonlySet<string> = new Set(['reaction', 'system', 'revoke', 'request_welcome']);

/** By type, what the person says. */
const SAID = new Map<string, (content: unknown) => string | undefined>([
  ['text', (content) => textAt(content, 'body')],
  ...MEDIA.map((type) => [type, (content: unknown) => textAt(content, 'caption')] as const),
  ['location', place],
  ['contacts', (content) => itemsIn(content).map(contactLine).join('\n')],
  ['interactive', chosen],
  ['button', (content) => textAt(content, 'text') ?? textAt(content, 'payload')],
  ['order', order],
  ['reaction', reaction],
  ['system', (content) => textAt(content, 'body')],
  ['revoke', (content) => `Deleted ${originalIn(content)}`],
  ['request_welcome', () => 'Opened the chat'],
]);

const originalIn = (content: unknown): string =>
  ['message', lineAt(content, 'original_message_id')].filter(Boolean).join(' ');

/** The member at this path, whose names are separated by dots. */
const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => {
    const isIn = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name);
    return isIn ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);

function textAt(value: unknown, path: string): string | undefined {
  const found = at(value, path);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

const lineAt = (value: unknown, path: string): string | undefined =>
  whatsapp.oneLine(textAt(value, path));

const itemsIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, 100) : [];

const joined = (parts: readonly (string | undefined)[], by: string): string =>
  parts.filter((part) => part !== undefined).join(by);

function linesOf(message: unknown, content: unknown): string[] {
  const about = [
    ['File:', lineAt(content, 'filename')],
    ['In reply to message', lineAt(content, 'message_id')],
    ['About the product', lineAt(message, 'context.referred_product.product_retailer_id')],
    ['Sent to the group', lineAt(message, 'group_id')],
  ];
  const lines = about.flatMap(([words, what]) =>
    what === undefined ? [] : [`[${words} ${what}]`],
  );
  return at(content, 'voice') === true ? [...lines, '[Voice message]'] : lines;
}

function place(content: unknown): string | undefined {
  const [name, address] = [textAt(content, 'name'), textAt(content, 'address')];
  const [latitude, longitude] = [textAt(content, 'latitude'), textAt(content, 'longitude')];
  return whatsapp.locationWords({ name, address, latitude, longitude });
}

function contactLine(contact: unknown): string {
  const phones = itemsIn(at(contact, 'phones')).map((each) => lineAt(each, 'phone'));
  const emails = itemsIn(at(contact, 'emails')).map((each) => lineAt(each, 'email'));
  const names = [lineAt(contact, 'name.formatted_name'), lineAt(contact, 'org.company')];
  return `Contact: ${joined([...names, ...phones, ...emails], ', ')}`;
}

/** A button, an item of a list, or a form (WhatsApp Flows). */
function chosen(content: unknown): string | undefined {
  return (
    textAt(content, 'button_reply.title') ??
    whatsapp.choiceWords(textAt(content, 'list_reply.title'), textAt(content, 'list_reply.id')) ??
    whatsapp.formWords(textAt(content, 'nfm_reply.response_json') ?? '')
  );
}

function order(content: unknown): string {
  const items = itemsIn(at(content, 'product_items')).map((item) => {
    const price = joined([lineAt(item, 'item_price'), lineAt(item, 'currency')], ' ');
    const product = `${lineAt(item, 'quantity')} × ${lineAt(item, 'product_retailer_id')}`;
    return price === '' ? product : `${product}, ${price} each`;
  });
  return joined([textAt(content, 'text'), ['Order:', ...items].join('\n')], '\n\n');
}

function reaction(content: unknown): string {
  const emoji = lineAt(content, 'emoji');
  return emoji === undefined ? 'Removed a reaction' : `Reacted with ${emoji}`;
}

/** A poll, for instance; or a file that is too large for Meta to pass on. */
function unsupported(message: unknown, type: string): string[] {
  const why = lineAt(message, 'unsupported.type') ?? lineAt(message, 'errors.0.error_data.details');
  const kind = why ?? whatsapp.oneLine(type, 40) ?? 'unknown type';
  return [`[WhatsApp does not pass on this message: ${kind}]`];
}

function originOf(message: unknown, ours: string): whatsapp.Origin {
  const id = lineAt(message, 'context.id');
  const sender = textAt(message, 'context.from');
  const isOurs = sender === ours.replace('+', '');
  const whose = sender === undefined ? undefined : isOurs ? 'ours' : 'theirs';
  const once = at(message, 'context.forwarded') === true ? 'once' : undefined;
  const ad = at(message, 'referral');
  const [url, headline, body] = ['source_url', 'headline', 'body'].map((name) => textAt(ad, name));
  return {
    forwarded: at(message, 'context.frequently_forwarded') === true ? 'often' : once,
    repliedTo: id === undefined ? undefined : { id, whose },
    ad: ad === undefined ? undefined : { url, headline, body },
  };
}
