import { saysDispleasure } from '../../../domain/reactions.ts';
import type { TextMessage } from '../provider.ts';
import { wordsOf } from './content.ts';
import * as whatsapp from './whatsapp-words.ts';

/**
 * A message of any type in words (Meta, WhatsApp Cloud API, "messages webhook reference"), which
 * other providers of WhatsApp pass on in Meta's form. Members that are missing, or not of the
 * documented type, are left out.
 * @param ours the shop's number, in E.164
 * @param link the member of a medium that names it: its id at Meta, a URL at others
 */
export function readContent(
  message: unknown,
  ours: string,
  link: 'id' | 'url' = 'id',
): Pick<TextMessage, 'body' | 'words' | 'context' | 'media' | 'isNotice'> {
  const type = textAt(message, 'type') ?? '';
  const content = at(message, type);
  const corrected = at(content, 'message');
  if (type === 'edit' && textAt(corrected, 'type') !== 'edit') {
    const line = `[Corrects ${originalIn(content)}]`;
    const { context, ...rest } = readContent(corrected, ours, link);
    // Its medium was submitted with the original.
    return { ...rest, context: [line, ...context], media: [] };
  }
  const said = SAID.get(type)?.(content);
  // Like any other reaction, it is the emoji.
  if (type === 'reaction' && saysDispleasure(said ?? '')) {
    return { body: '', words: said ?? '', context: [], media: [] };
  }
  const [url, contentType] = [textAt(content, link), textAt(content, 'mime_type')];
  const media = url === undefined || !MEDIA.includes(type) ? [] : [{ url, contentType }];
  const isSilent = (said ?? '').trim() === '' && media.length === 0 && type !== 'text';
  return {
    body: said ?? '',
    words: wordsOf(said, isSilent ? ['WhatsApp', kindOf(message, type)] : undefined),
    context: [
      ...linesOf(message, content),
      ...(isSilent ? silentLines(content, type) : []),
      ...whatsapp.originLines(originOf(message, ours)),
    ],
    media,
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
  if (emoji === undefined) return 'Removed a reaction';
  return saysDispleasure(emoji) ? emoji : `Reacted with ${emoji}`;
}

/** Of a poll, for instance, or of a file that is too large, Meta tells only why it has no content. */
function kindOf(message: unknown, type: string): string | undefined {
  if (type !== 'unsupported') return textAt(message, `${type}.type`) ?? type;
  const named = ['unsupported.type', 'errors.0.error_data.details', 'errors.0.title'];
  return named.map((path) => textAt(message, path)).find((text) => text !== undefined) ?? type;
}

/** What is known of a message in which nobody says anything. */
function silentLines(content: unknown, type: string): string[] {
  if (type === 'unsupported') return ['[WhatsApp does not pass on its content]'];
  return whatsapp.memberLines(at(content, textAt(content, 'type') ?? '') ?? content);
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
