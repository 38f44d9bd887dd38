import { hash } from 'node:crypto';
import { z } from 'zod';
import { parsedJson } from '../../../../spool/stored-form.ts';
import { isAddress, isUserId } from '../../address.ts';
import { oneLine } from '../../normalize/whatsapp-words.ts';
import type { DeliveryStatus, ReceivedText, WebhookContent } from '../../provider.ts';
import { BadParameter, WebhookRefused } from '../../webhook-request.ts';
import { ACCOUNT_ID } from './account.ts';

/**
 * What Meta's webhook sends (Meta, WhatsApp Cloud API, "messages webhook reference"): entries of
 * accounts, with changes, with messages and statuses of one of our numbers. Only ids and addresses
 * are required here; `content.ts` reads the rest at delivery. What cannot be read hides no other.
 */

const MAX_LINE_LENGTH = 200;

/** In the sample that "Test" in the app's dashboard sends. No page of Meta names it. */
const TEST_NUMBER_ID = '123456123';

/** Of an id or a name. Each stored message has a copy of them, so that a long one is left out. */
const MAX_MEMBER_LENGTH = 320;

/** Meta is said to aggregate 1000 at most. A body of full size with small ones would take minutes to read. */
const MAX_UPDATES = 25_000;

const limited = z.array(z.unknown()).max(MAX_UPDATES);
const unknowns = z.array(z.unknown()).catch([]).pipe(limited);
const word = z.string().max(MAX_MEMBER_LENGTH);
const line = word.catch('');
const figure = z.union([word, z.number().transform(String)]);

const entrySchema = z.object({ changes: z.array(z.unknown()) });
const entries = z.array(entrySchema.catch({ changes: [undefined] }));
const requestSchema = z.object({ entry: limited.pipe(entries) });
const changeSchema = z.object({ field: z.string(), value: z.unknown() });
const valueSchema = z.object({
  metadata: z.object({ display_phone_number: figure, phone_number_id: word }),
  contacts: unknowns,
  messages: unknowns,
  statuses: unknowns,
  user_id_update: unknowns,
  message_echoes: unknowns,
  user_preferences: unknowns,
});
/** Whether a person gets marketing messages (Meta, "user_preferences webhook reference"). */
const preferenceSchema = z.object({
  wa_id: line,
  user_id: line,
  detail: z.string().catch(''),
  value: z.enum(['stop', 'resume']),
  timestamp: figure.catch(''),
});
const contactSchema = z.object({
  wa_id: line,
  /** Of a person who may hide their number (Meta, "Business-scoped user IDs"). */
  user_id: line,
  profile: z.object({ name: line, username: line }).catch({ name: '', username: '' }),
});
const messageSchema = z.looseObject({
  id: z.string().regex(/^[\x21-\x7e]{1,256}$/),
  from: line,
  from_user_id: line,
  /** Of an echo, which the number of the shop has sent. */
  to: line,
  to_user_id: line,
  /** Seconds since the epoch. */
  timestamp: figure.catch(''),
  /** Of a notice that the sender's number or user id has changed (Meta, "System messages webhook reference"). */
  system: z
    .looseObject({ type: line, wa_id: line, user_id: line, previous_user_id: line })
    .optional()
    .catch(undefined),
});
/** A change of a user id as older integrations are told of it, without an id of its own. */
const updateSchema = z.object({
  wa_id: line,
  user_id: z.object({ previous: word, current: word }),
  timestamp: figure.catch(''),
});
const statusSchema = z.object({
  id: line,
  status: z.enum(['sent', 'delivered', 'read', 'failed', 'other']).catch('other'),
  errors: z.array(z.object({ code: figure, title: line })).catch([]),
  biz_opaque_callback_data: z.string().optional().catch(undefined),
});

/** @throws {WebhookRefused} nothing of it can be read */
export function readEvent(body: Uint8Array): readonly WebhookContent[] {
  const { data, error } = requestSchema.safeParse(parsedJson(body));
  if (data === undefined) {
    const text = "Not an event of Meta's webhooks";
    throw new WebhookRefused(400, 'malformed', text, { cause: error });
  }
  const contents: WebhookContent[] = [];
  for (const change of data.entry.flatMap(({ changes }) => changes)) {
    if (contents.length >= MAX_UPDATES) return [...contents, unreadable('entry')];
    contents.push(...contentsOf(change));
  }
  return contents.length > 0 ? contents : [ignored('nothing')];
}

const UPDATES = 'user_id_update';

/** The fields of a webhook that are read. */
const FIELDS: ReadonlySet<string> = new Set([
  'messages',
  // Of a number that is also used in the WhatsApp Business app (Meta, "smb_message_echoes").
  'smb_message_echoes',
  'user_preferences',
  UPDATES,
]);

const ignored = (event: string): WebhookContent => ({
  ...{ kind: 'other', account: ACCOUNT_ID, event: event.slice(0, 100) },
});

function unreadable(parameter: string): WebhookContent {
  const refusal = new BadParameter(parameter, `${parameter} must be given, in Meta's format`);
  return { kind: 'unreadable', account: ACCOUNT_ID, refusal };
}

function contentsOf(change: unknown): readonly WebhookContent[] {
  const { data } = changeSchema.safeParse(change);
  if (data === undefined) return [unreadable('changes')];
  if (!FIELDS.has(data.field)) return [ignored(data.field)];
  const value = valueSchema.safeParse(data.value).data;
  if (value === undefined) return [unreadable('metadata')];
  const notices = value.user_id_update.flatMap((each) => noticeOf(each) ?? []);
  const count = value.messages.length + notices.length + value.message_echoes.length;
  const senders = sendersIn(value.contacts, count);
  const read =
    (kind: 'message' | 'echo') =>
    (each: unknown): WebhookContent => {
      const message = messageIn(value.metadata, senders, each, kind);
      if (typeof message !== 'string') return { kind, text: message.text };
      // No customer waits for it, so Meta need not repeat it for a week.
      return kind === 'echo' ? ignored(data.field) : unreadable(message);
    };
  const messages = [
    ...[...value.messages, ...notices].map(read('message')),
    ...value.message_echoes.map(read('echo')),
  ];
  const preferences = value.user_preferences.map((each) => preferenceOf(value.metadata, each));
  const contents = [...messages, ...value.statuses.map(statusOf), ...preferences];
  // A value may have errors of the account only.
  return contents.length > 0 ? contents : [ignored('errors')];
}

/** The same as a system message; undefined if it cannot be read. */
function noticeOf(given: unknown): unknown {
  const { data } = updateSchema.safeParse(given);
  if (data === undefined) return undefined;
  const { wa_id, user_id, timestamp } = data;
  const { previous: previous_user_id, current } = user_id;
  const system = { type: USER_ID, user_id: current, previous_user_id, body: 'Changed the user id' };
  const id = `${UPDATES}:${previous_user_id}:${current}`
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 256);
  return { id, from: wa_id, timestamp, type: 'system', system };
}

/**
 * A person who wants no marketing messages may still ask and be answered, so this is no opt-out: their
 * timeline shows it.
 */
function preferenceOf(metadata: Metadata, given: unknown): WebhookContent {
  const { data } = preferenceSchema.safeParse(given);
  const from = data && senderOf([data.wa_id, data.user_id]);
  // An event finds its contact by a number (API §4.1).
  if (data === undefined || from?.startsWith('whatsapp:+') !== true) {
    return ignored('user_preferences');
  }
  const { value, timestamp, detail } = data;
  const { phone_number_id: service } = metadata;
  const description = oneLine(detail, MAX_LINE_LENGTH);
  const id = hash('sha256', [service, from, value, timestamp].join('\0'), 'base64url');
  return {
    kind: 'event',
    text: { id: `preference/${id}`, account: ACCOUNT_ID, service, from, to: numberOf(metadata) },
    event: {
      name: value === 'stop' ? 'WhatsApp marketing stopped' : 'WhatsApp marketing resumed',
      ...(description !== undefined && { description }),
      ...(/^\d{1,11}$/.test(timestamp) && {
        event_time: new Date(Number(timestamp) * 1000).toISOString(),
      }),
      contact: { phone: from.slice('whatsapp:'.length) },
    },
  };
}

/** The message that was stored, and the text that it is; undefined if it is cut off or damaged. */
export function readMessage(stored: Uint8Array) {
  const { data } = valueSchema.safeParse(parsedJson(stored));
  const [echo] = data?.message_echoes ?? [];
  const given =
    echo === undefined ? (['message', data?.messages[0]] as const) : (['echo', echo] as const);
  const message = data && messageIn(data.metadata, sendersIn(data.contacts, 1), given[1], given[0]);
  return typeof message === 'string' ? undefined : message;
}

type Metadata = z.output<typeof valueSchema>['metadata'];
type Contact = z.output<typeof contactSchema>;

/** Who wrote the messages of a value. */
interface Senders {
  /** Of a value with one message and one contact, which may lack an id that the message has. */
  readonly only: Contact | undefined;
  readonly byId: ReadonlyMap<string, Contact>;
}

/** Read once for all messages of a value, which may have thousands of both. */
function sendersIn(contacts: readonly unknown[], messages: number): Senders {
  const known = contacts.flatMap((each) => contactSchema.safeParse(each).data ?? []);
  // Of two with one id, the first holds.
  const ids = known
    .toReversed()
    .flatMap((each) => [[each.wa_id, each] as const, [each.user_id, each] as const]);
  const byId = new Map(ids.filter(([id]) => id !== ''));
  return { only: messages === 1 && known.length === 1 ? known[0] : undefined, byId };
}

/**
 * A message of a value, or the name of its member that cannot be read. Stored is the value without
 * the other messages.
 */
function messageIn(
  metadata: Metadata,
  { only, byId }: Senders,
  given: unknown,
  kind: 'message' | 'echo',
) {
  const { data: message, error } = messageSchema.safeParse(given);
  if (error !== undefined) return `messages.${String(error.issues[0]?.path[0] ?? '')}`;
  const [number, userId] =
    kind === 'echo' ? [message.to, message.to_user_id] : [message.from, message.from_user_id];
  const contact = only ?? byId.get(number) ?? byId.get(userId);
  const from = senderOf([
    ...[number, contact?.wa_id, userId, contact?.user_id],
    message.system?.user_id,
  ]);
  if (from === undefined) return 'messages.from';
  const { name, username } = contact?.profile ?? {};
  const member = kind === 'echo' ? 'message_echoes' : 'messages';
  const raw = bytesOf({ metadata, contacts: contact ? [contact] : [], [member]: [given] });
  if (raw === undefined) return member;
  const text: ReceivedText = {
    ...{ id: message.id, account: ACCOUNT_ID, service: metadata.phone_number_id, from },
    ...(kind === 'message' && { names: namesOf(message, contact) }),
    writtenAt: Number(message.timestamp || NaN) * 1000,
    to: numberOf(metadata),
    name: oneLine(name, MAX_LINE_LENGTH) ?? oneLine(username, MAX_LINE_LENGTH) ?? '',
    isTest: metadata.phone_number_id === TEST_NUMBER_ID,
    meta: { provider: 'whatsapp' },
    raw,
  };
  return { message, text };
}

/** Undefined if it is nested too deeply: `JSON.stringify` needs stack for it, which `JSON.parse` does not. */
function bytesOf(stored: object): Buffer | undefined {
  try {
    return Buffer.from(JSON.stringify(stored));
  } catch {
    return undefined;
  }
}

const NUMBER = 'user_changed_number';
const USER_ID = 'user_changed_user_id';

/** What a message says of its sender's names, beside its address. */
function namesOf(
  { from, from_user_id, system }: z.output<typeof messageSchema>,
  contact: Contact | undefined,
): ReceivedText['names'] {
  const userId = asUserId(from_user_id || contact?.user_id);
  if (system?.type !== NUMBER && system?.type !== USER_ID) return { ...(userId && { userId }) };
  const current = asUserId(system.user_id);
  const previousUserId =
    asUserId(system.previous_user_id) ?? (userId === current ? undefined : userId);
  const [number, previousNumber] = [system.wa_id, from].map((id) =>
    system.type === NUMBER && /^\d{1,15}$/.test(id) ? `+${id}` : undefined,
  );
  return {
    ...(current !== undefined && { userId: current }),
    ...(previousUserId !== undefined && previousUserId !== current && { previousUserId }),
    ...(number !== undefined && { number }),
    ...(previousNumber !== undefined && previousNumber !== number && { previousNumber }),
  };
}

const asUserId = (id = ''): string | undefined =>
  isUserId({ transport: 'whatsapp', address: id }) ? id : undefined;

/** A number if there is one, since it may be absent; otherwise the person's id. */
function senderOf(ids: readonly (string | undefined)[]): string | undefined {
  const addresses = ids.map((id = '') => addressOf(id)).filter(isAddress);
  return addresses.find((address) => address.startsWith('whatsapp:+')) ?? addresses[0];
}

const numberOf = ({ display_phone_number: shown }: Metadata): string =>
  addressOf(shown.replace(/\D/g, ''));

/** Meta writes numbers in digits only. */
const addressOf = (id: string): string => `whatsapp:${/^\d+$/.test(id) ? `+${id}` : id}`;

/** The status of one of our messages (Meta, "status messages webhook reference"). */
function statusOf(given: unknown): WebhookContent {
  const { data } = statusSchema.safeParse(given);
  if (data === undefined) return ignored('status');
  const { id, status, errors, biz_opaque_callback_data: tag } = data;
  const [error] = status === 'failed' ? errors : [];
  const reason = oneLine(error?.title, MAX_LINE_LENGTH);
  const told: DeliveryStatus = {
    ...{ status, state: status === 'other' ? undefined : status },
    ...(error && { code: error.code.slice(0, 20) }),
    ...(reason !== undefined && { reason }),
  };
  return { kind: 'status', account: ACCOUNT_ID, id: id.slice(0, 256), tag, statuses: [told] };
}
