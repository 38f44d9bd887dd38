import { z } from 'zod';
import { MEDIA_PERMISSIONS } from '../../platform-api/resources.ts';
import {
  createEventRequestSchema,
  createMessageRequestSchema,
  listContactsQuerySchema,
  listMessagesQuerySchema,
  listTicketsQuerySchema,
  ticketFiltersSchema,
} from '../../platform-api/schemas.ts';
import {
  contactAnswer,
  contactPage,
  conversationAnswer,
  type ErrorStatus,
  eventAnswer,
  mediaAnswer,
  messageAnswer,
  messagePage,
  ticketAnswer,
  ticketCount,
  ticketPage,
} from './answers.ts';
import * as examples from './examples.ts';

interface Example {
  readonly name: string;
  readonly summary: string;
  readonly value: object;
}

export interface Success {
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly example: object;
}

interface Input {
  readonly schema: z.ZodObject;
  readonly example: Record<string, string>;
}

/** An operation of API §4 and its documentation. */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly method: 'get' | 'post';
  /** Relative to the version. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly query?: Input;
  readonly body?: { readonly schema: z.ZodObject; readonly examples: readonly Example[] };
  readonly form?: Input;
  readonly successes: Readonly<Partial<Record<200 | 201, Success>>>;
  readonly errors: readonly ErrorStatus[];
}

const READ = [400, 401, 403, 429] as const;
const READ_ONE = [...READ, 404] as const;
const WRITE = [...READ, 413, 415, 503] as const;

const success = (description: string, schema: z.ZodObject, example: object): Success => ({
  description,
  schema,
  example,
});

const getOne = (noun: string, schema: z.ZodObject, example: object): Operation => ({
  id: `get${noun}`,
  tag: `${noun}s`,
  method: 'get',
  path: `/${noun.toLowerCase()}s/{id}/`,
  summary: `Get ${noun.toLowerCase()}`,
  description: `One ${noun.toLowerCase()} by its id.`,
  successes: { 200: success(`The ${noun.toLowerCase()}.`, schema, example) },
  errors: READ_ONE,
});

const list = (
  noun: string,
  description: string,
  query: Input,
  schema: z.ZodObject,
  results: readonly object[],
  next: string | null = null,
): Operation => ({
  id: `list${noun}s`,
  tag: `${noun}s`,
  method: 'get',
  path: `/${noun.toLowerCase()}s/`,
  summary: `List ${noun.toLowerCase()}s`,
  description,
  query,
  successes: {
    200: success(`A page of ${noun.toLowerCase()}s.`, schema, { results, next, previous: null }),
  },
  errors: READ,
});

/** For the document only: `readUpload` reads the form as a stream. */
const uploadForm = z.object({
  file: z.string().meta({
    contentMediaType: 'application/octet-stream',
    description: 'The file: a part with a filename.',
  }),
  permission: z
    .enum(MEDIA_PERMISSIONS)
    .default('public')
    .describe('Whether the file is readable from a public URL.'),
});

const MESSAGES: readonly Operation[] = [
  {
    id: 'createMessage',
    tag: 'Messages',
    method: 'post',
    path: '/messages/',
    summary: 'Create message',
    description:
      'Creates an inbound customer message, which the AI agent then processes. The reply is a ' +
      'message of the same conversation, and is sent on its channel.\n\n' +
      'With `conversation.id` the message is appended to that conversation. Otherwise a new ' +
      'conversation is created on the channel `conversation.type`, except for an email whose ' +
      '`in_reply_to` or `references` belong to an existing conversation.\n\n' +
      'A message with a known `remote_id` is not created again: the answer is 200 with the ' +
      'existing message.',
    body: {
      schema: createMessageRequestSchema,
      examples: [
        { name: 'email', summary: 'An email', value: examples.createEmail },
        { name: 'sms', summary: 'A text message', value: examples.createSms },
        {
          name: 'append',
          summary: 'A message in an existing conversation',
          value: examples.appendChat,
        },
      ],
    },
    successes: {
      201: success('The created message.', messageAnswer, examples.message),
      200: success(
        'The existing message that matched the dedup key.',
        messageAnswer,
        examples.message,
      ),
    },
    errors: [...WRITE, 404],
  },
  list(
    'Message',
    'Messages of customers and of the agent. A reply has the role `agent`; it is `PENDING` ' +
      'until it is sent, then `DELIVERED` or `FAILED`.',
    { schema: listMessagesQuerySchema, example: examples.queries.messages },
    messagePage,
    [examples.reply, examples.message],
  ),
  getOne('Message', messageAnswer, examples.reply),
];

const ticketsOperations = (baseUrl: string): readonly Operation[] => [
  list(
    'Ticket',
    'Tickets that match all of the filters.',
    { schema: listTicketsQuerySchema, example: examples.queries.tickets },
    ticketPage,
    [examples.ticket],
    `${baseUrl}/v2026-04/tickets/?limit=20&cursor=b2xkZXI6MTA0Mg`,
  ),
  getOne('Ticket', ticketAnswer, examples.ticket),
  {
    id: 'countTickets',
    tag: 'Tickets',
    method: 'get',
    path: '/tickets/count/',
    summary: 'Count tickets',
    description: 'The number of tickets that match the filters of List tickets.',
    query: { schema: ticketFiltersSchema, example: examples.queries.count },
    successes: {
      200: success('The number.', ticketCount, { count: 17 }),
    },
    errors: READ,
  },
];

const CONVERSATIONS: readonly Operation[] = [
  {
    ...getOne('Conversation', conversationAnswer, examples.conversation),
    description: 'One conversation by its id; its messages are in List messages.',
  },
];

const CONTACTS: readonly Operation[] = [
  list(
    'Contact',
    'Contacts that match all of the filters.',
    { schema: listContactsQuerySchema, example: examples.queries.contacts },
    contactPage,
    [examples.contact],
  ),
  getOne('Contact', contactAnswer, examples.contact),
];

const mediaOperations = (baseUrl: string): readonly Operation[] => [
  {
    id: 'uploadMedia',
    tag: 'Media',
    method: 'post',
    path: '/media/',
    summary: 'Upload media',
    description:
      'Uploads a file, such as an image, a document or audio. The returned `id` is used in ' +
      '`attachments` of Create message.\n\n' +
      'The `url` of a private file is signed and valid for an hour; that of a public file does ' +
      'not expire. Both support `Range` requests.',
    form: {
      schema: uploadForm,
      example: { file: '@"damaged box.jpg";type=image/jpeg', permission: 'private' },
    },
    successes: {
      201: success('The media record.', mediaAnswer, examples.media(baseUrl)),
    },
    errors: WRITE,
  },
];

const EVENTS: readonly Operation[] = [
  {
    id: 'createEvent',
    tag: 'Events',
    method: 'post',
    path: '/events/',
    summary: 'Create event',
    description:
      'Records an event on the timeline of a contact, or emits a metric, or both: at least one ' +
      'of `contact` and `metric` is needed. A contact is found by email, then phone, then ' +
      '`remote_id`, or created.\n\n' +
      'A metric with a known `metric_name` and `deduping_key` is not recorded again: the answer ' +
      'is 200.',
    body: {
      schema: createEventRequestSchema,
      examples: [
        { name: 'shipped', summary: 'A timeline event with a metric', value: examples.createEvent },
      ],
    },
    successes: {
      201: success('Recorded.', eventAnswer, examples.eventContact),
      200: success(
        'The metric was recorded before; nothing is stored.',
        eventAnswer,
        examples.eventContact,
      ),
    },
    errors: WRITE,
  },
];

/** All 11 operations, in reading order. @param baseUrl of the links in the examples */
export const operations = (baseUrl: string): readonly Operation[] => [
  ...MESSAGES,
  ...ticketsOperations(baseUrl),
  ...CONVERSATIONS,
  ...CONTACTS,
  ...mediaOperations(baseUrl),
  ...EVENTS,
];

/** A command to try an operation in a POSIX shell with `API_KEY` and `SHOP_ID`. */
export function curl(operation: Operation, baseUrl: string): string {
  const path = operation.path.replace('{id}', idOf(operation));
  const lines = [
    `curl ${quoted(`${baseUrl}/v2026-04${path}${queryOf(operation)}`)}`,
    '-H "Authorization: Bearer $API_KEY"',
    '-H "X-Shop-Id: $SHOP_ID"',
  ];
  if (operation.body) {
    const [example] = operation.body.examples;
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d ${quoted(JSON.stringify(example?.value, null, 2))}`);
  }
  for (const [name, value] of Object.entries(operation.form?.example ?? {})) {
    lines.push(`-F ${quoted(`${name}=${value}`)}`);
  }
  return lines.join(' \\\n  ');
}

function idOf({ successes }: Operation): string {
  const example: object = successes[200]?.example ?? {};
  return 'id' in example && typeof example.id === 'string' ? example.id : '';
}

/** A readable query: commas and colons need no escape (RFC 3986 §3.4). */
function queryOf({ query }: Operation): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(query.example).toString();
  return `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%40', '@')}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
