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

/** What the operations answer with, each under its name in the document. */

const named = <T extends z.ZodType>(schema: T, id: string, description: string) =>
  schema.meta({ id, description });

export const ticketAnswer = named(
  ticketFields,
  'Ticket',
  'What the shop has to do for a customer.',
);
export const messageAnswer = named(messageFields, 'Message', 'One thing that someone said.');
export const conversationAnswer = named(
  conversationFields,
  'Conversation',
  'Messages that belong together, on one channel.',
);
export const contactAnswer = named(
  contactFields,
  'Contact',
  'A customer, or someone of a customer.',
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
    'A page of a list. The links carry an opaque `cursor`, and the filters.',
  );
export const ticketPage = page(ticketAnswer, 'TicketPage');
export const messagePage = page(messageAnswer, 'MessagePage');
export const contactPage = page(contactAnswer, 'ContactPage');

export const ticketCount = named(
  z.object({ count: z.int().min(0).describe('The number of matching tickets.') }),
  'TicketCount',
  'How many tickets match.',
);

export const eventAnswer = named(
  z.object({
    contact: eventContactFields
      .optional()
      .describe('The resolved contact, present if a contact was provided.'),
  }),
  'EventResult',
  'Whom the event was added to.',
);

export const errorAnswer = named(
  z.object({
    error: z.object({
      code: z.enum(ERROR_CODES).describe('For programs; each belongs to one status.'),
      message: z.string().describe('For people.'),
      fields: z
        .record(z.string(), z.string())
        .describe('What was expected of each field that is wrong, by its path.'),
    }),
  }),
  'Error',
  'Every answer that is no success has this form.',
);

export interface ErrorAnswer {
  /** The name of the response in the document. */
  readonly name: string;
  readonly description: string;
  readonly example: z.input<typeof errorAnswer>['error'];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors that operations share; any other has the same body. */
export const ERRORS = {
  400: {
    name: 'Invalid',
    description: 'Something in the request is not as it has to be; `fields` says what.',
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
    description: 'The API key is of another shop than `X-Shop-Id` names.',
    example: {
      code: 'forbidden',
      message: 'the API key is not of this shop',
      fields: { 'X-Shop-Id': 'expected the shop of this API key' },
    },
  },
  404: {
    name: 'NotFound',
    description: 'The shop has nothing with this id.',
    example: {
      code: 'not_found',
      message: 'there is no such resource in this shop',
      fields: {},
    },
  },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than what is taken.',
    example: {
      code: 'too_large',
      message: 'the body is too large',
      fields: { body: 'expected at most 2097152 bytes' },
    },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is of another type than the operation takes.',
    example: {
      code: 'unsupported_media_type',
      message: 'the type of the body is not supported',
      fields: { body: 'expected a body of type application/json' },
    },
  },
  429: {
    name: 'TooManyRequests',
    description: 'The shop asks more often than it may; `Retry-After` says when to come back.',
    example: {
      code: 'rate_limited',
      message: 'too many requests: 50 a second are taken',
      fields: {},
    },
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
  503: {
    name: 'Unavailable',
    description: 'The store cannot write now, for instance because the disk is full.',
    example: { code: 'unavailable', message: 'the store cannot write now', fields: {} },
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
} as const satisfies Partial<Record<ApiStatus, ErrorAnswer>>;

export type ErrorStatus = keyof typeof ERRORS;
