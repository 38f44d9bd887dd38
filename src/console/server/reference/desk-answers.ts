import { z } from 'zod';
import {
  ANSWER_LIMITS,
  DESK_STEPS,
  type DeskFile,
  type DeskMessage,
  type DeskStep,
} from '../../../domain/desk.ts';
import { REPLY_STATES, type ReplyFate } from '../../../domain/reply-fate.ts';
import { answer, channel, count, named, text, time } from './answers.ts';

const waiting = {
  id: z.string(),
  number: count.describe('Within the shop.'),
  name: text('The subject in one line.'),
  channel,
  status: z.string(),
  customer: text('A name, address or number; empty for an anonymous visitor.'),
  excerpt: text("The beginning of the customer's last message."),
  assignee: text('Who has it.').optional(),
  shop: text('A configured name.'),
};

export const deskQueue = named(
  z.object({
    tickets: z.array(
      z.object({
        ...waiting,
        waitingSince: time('Since when the customer waits'),
      }),
    ),
  }),
  'DeskQueue',
  'The tickets that wait for a person.',
);

export const deskFile = named(
  answer<DeskFile>({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    bytes: count,
  }),
  'DeskFile',
  'A file of a message.',
);

const fate = answer<ReplyFate>({
  state: z.enum(REPLY_STATES),
  at: time('Absent while nothing has happened').optional(),
  code: text(
    'Of a failure: of the relay, of the server of the recipient, or of the provider.',
  ).optional(),
  reason: text('What the code means.').optional(),
  isOpen: z.boolean().describe('A failure that nobody has dealt with.').optional(),
});

const otherChannels = z
  .array(z.enum(['email', 'sms']))
  .describe('By what else a reply that failed can be sent.');

const listedReply = z.object({
  id: text('Of the message.'),
  ticketId: z.string(),
  number: count.describe('Of the ticket, within the shop.'),
  name: text('Of the ticket.'),
  channel,
  customer: waiting.customer,
  excerpt: text('The beginning of the reply.'),
  fate,
  nextAt: time('Of one that is tried again: when').optional(),
  attempts: count.describe('How often it was tried since it was queued.').optional(),
  otherChannels,
  shop: waiting.shop,
});

export const outbox = named(
  z.object({
    failed: z.array(listedReply).describe('Nobody has dealt with them; the latest first.'),
    deferred: z.array(listedReply).describe('They are tried again, the next one first.'),
  }),
  'Outbox',
  'The replies that have not arrived.',
);

const message = answer<DeskMessage>({
  id: z.string(),
  at: time(),
  from: z.enum(['customer', 'agent', 'person']),
  who: text("The person's name.").optional(),
  isInternal: z.boolean().describe('A note, which the customer never gets.'),
  text: text('Without markup.'),
  fate: fate.optional().describe('Of a reply.'),
  files: z.array(deskFile),
});

const step = answer<DeskStep>({
  what: z.enum(DESK_STEPS),
  at: time(),
  who: z.string(),
  to: text('Of `assigned`.').optional(),
});

export const deskTicket = named(
  z.object({
    ...waiting,
    version: text('Each change carries it.'),
    conversationId: z.string(),
    contactId: z.string().optional(),
    replyTo: text('The address or number that a reply goes to.').optional(),
    optedOut: z
      .boolean()
      .describe(
        'Whether the number has opted out (STOP): a reply is refused until it texts START.',
      ),
    waitingSince: time('Absent while the customer does not wait').optional(),
    completedAt: time().optional(),
    agent: z
      .enum(['answers', 'silent', 'off'])
      .describe('Whether the agent answers the next message, a person does, or there is none.'),
    limitReached: z
      .enum(ANSWER_LIMITS)
      .describe('The limit at which the agent has left the last message to people.')
      .optional(),
    messages: z.array(message).describe('The newest 100, oldest first.'),
    otherChannels,
    hasEarlier: z.boolean(),
    steps: z.array(step).describe('What people did, the newest 200, oldest first.'),
    assignable: z.array(z.string()).describe('The people to whom it can be assigned.'),
    present: z
      .array(z.object({ who: z.string(), writing: z.boolean(), until: time() }))
      .describe('Who has it open.'),
  }),
  'DeskTicket',
  'A ticket with its conversation.',
);

export const cannedTexts = named(
  z.object({
    texts: z.array(z.object({ title: z.string(), heading: z.string(), text: text('Markdown.') })),
  }),
  'CannedTexts',
  "The shop's own texts, for replies.",
);
