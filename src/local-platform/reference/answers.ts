import { z } from 'zod';
import {
  contactFields,
  conversationFields,
  eventContactFields,
  mediaFields,
  messageFields,
  ticketFields,
} from '../../platform-api/resources.ts';
import { type ApiStatus, ERROR_CODES } from '../api-error.ts';

/** The answers of the operations, with their names in the document. */

const named = <T extends z.ZodType>(schema: T, id: string, description: string) =>
  schema.meta({ id, description });

export const ticketAnswer = named(ticketFields, 'Ticket', 'A task of the shop for a customer.');
export const messageAnswer = named(
  messageFields,
  'Message',
  'A message of a customer, the agent or a teammate.',
);
export const conversationAnswer = named(
  conversationFields,
  'Conversation',
  'Related messages on one channel.',
);
export const contactAnswer = named(
  contactFields,
  'Contact',
  'A customer, or a person who belongs to one.',
);
export const mediaAnswer = named(mediaFields, 'Media', 'An uploaded file.');

const link = (about: string) => z.url().nullish().describe(about);
/** API §2.6 */
const page = <T extends z.ZodType>(item: T, id: string) =>
  named(
    z.object({
      results: z.array(item).describe('Newest first.'),
      next: link('Link to the next page; null on the last.'),
      previous: link('Link to the previous page; null on the first.'),
    }),
    id,
    'A page of a list. The links contain an opaque `cursor` and the filters.',
  );
export const ticketPage = page(ticketAnswer, 'TicketPage');
export const messagePage = page(messageAnswer, 'MessagePage');
export const contactPage = page(contactAnswer, 'ContactPage');

export const ticketCount = named(
  z.object({ count: z.int().min(0).describe('The number of matching tickets.') }),
  'TicketCount',
  'The number of matching tickets.',
);

export const eventAnswer = named(
  z.object({
    contact: eventContactFields
      .optional()
      .describe('The resolved contact, present if a contact was provided.'),
  }),
  'EventResult',
  'The contact of the event.',
);

export const errorAnswer = named(
  z.object({
    error: z.object({
      code: z.enum(ERROR_CODES).describe('For programs; each status has its own code.'),
      message: z.string().describe('For people.'),
      fields: z
        .record(z.string(), z.string())
        .describe('What was expected, by the path of each wrong field.'),
    }),
  }),
  'Error',
  'The body of every error.',
);

export interface ErrorAnswer {
  /** The name of the response in the document. */
  readonly name: string;
  readonly description: string;
  readonly example: z.input<typeof errorAnswer>['error'];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors of several operations; other errors have the same body. */
export const ERRORS = {
  400: {
    name: 'Invalid',
    description: 'The request is not valid; `fields` has the wrong fields.',
    example: {
      code: 'invalid',
      message: 'the request is not valid',
      fields: { 'conversation.agent_contact': 'required for conversations of type email' },
    },
  },
  401: {
    name: 'Unauthorized',
    description: 'The API key is missing or not known.',
    example: {
      code: 'unauthorized',
      message: 'the API key is missing',
      fields: { Authorization: 'expected Bearer and the API key of the shop' },
    },
    headers: { 'WWW-Authenticate': 'How to authenticate: `Bearer`.' },
  },
  403: {
    name: 'Forbidden',
    description: 'The API key belongs to another shop than `X-Shop-Id`.',
    example: {
      code: 'forbidden',
      message: 'the API key is not of this shop',
      fields: { 'X-Shop-Id': 'expected the shop of this API key' },
    },
  },
  404: {
    name: 'NotFound',
    description: 'The shop has no resource with this id.',
    example: {
      code: 'not_found',
      message: 'there is no such resource in this shop',
      fields: {},
    },
  },
  413: {
    name: 'TooLarge',
    description: 'The body is too large.',
    example: {
      code: 'too_large',
      message: 'the body is too large',
      fields: { body: 'expected at most 2097152 bytes' },
    },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The operation does not accept this type of body.',
    example: {
      code: 'unsupported_media_type',
      message: 'the type of the body is not supported',
      fields: { body: 'expected a body of type application/json' },
    },
  },
  429: {
    name: 'TooManyRequests',
    description: 'The shop has exceeded its rate limit; `Retry-After` has the time to wait.',
    example: {
      code: 'rate_limited',
      message: 'too many requests: at most 50 per second are allowed',
      fields: {},
    },
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
  503: {
    name: 'Unavailable',
    description: 'The store cannot write at the moment, for example because the disk is full.',
    example: { code: 'unavailable', message: 'the store cannot write now', fields: {} },
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
} as const satisfies Partial<Record<ApiStatus, ErrorAnswer>>;

export type ErrorStatus = keyof typeof ERRORS;
