import { z } from 'zod';
import { DESK_STEPS } from '../../../domain/desk.ts';
import type * as Contract from '../../contract.ts';
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
  answer<Contract.DeskQueue>({
    tickets: z.array(
      answer<Contract.QueuedTicket>({
        ...waiting,
        waitingSince: time('Since when the customer waits'),
      }),
    ),
  }),
  'DeskQueue',
  'The tickets that wait for a person.',
);

export const deskFile = named(
  answer<Contract.DeskFile>({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    bytes: count,
  }),
  'DeskFile',
  'A file of a message.',
);

const message = answer<Contract.DeskMessage>({
  id: z.string(),
  at: time(),
  from: z.enum(['customer', 'agent', 'person']),
  who: text("The person's name.").optional(),
  isInternal: z.boolean().describe('A note, which the customer never gets.'),
  text: text('Without markup.'),
  status: text('Of a reply: PENDING, DELIVERED or FAILED.').optional(),
  files: z.array(deskFile),
});

const step = answer<Contract.DeskStep>({
  what: z.enum(DESK_STEPS),
  at: time(),
  who: z.string(),
  to: text('Of `assigned`.').optional(),
});

export const deskTicket = named(
  answer<Contract.DeskTicketView>({
    ...waiting,
    version: text('Each change carries it.'),
    conversationId: z.string(),
    contactId: z.string().optional(),
    replyTo: text('The address or number that a reply goes to.').optional(),
    waitingSince: time('Absent while the customer does not wait').optional(),
    completedAt: time().optional(),
    agent: z
      .enum(['answers', 'silent', 'off'])
      .describe('Whether the agent answers the next message, a person does, or there is none.'),
    messages: z.array(message).describe('The newest 100, oldest first.'),
    hasEarlier: z.boolean(),
    steps: z.array(step).describe('What people did, oldest first.'),
    assignable: z.array(z.string()).describe('The people to whom it can be assigned.'),
    present: z
      .array(answer<Contract.Present>({ who: z.string(), writing: z.boolean(), until: time() }))
      .describe('Who has it open.'),
  }),
  'DeskTicket',
  'A ticket with its conversation.',
);

export const cannedTexts = named(
  answer<Contract.CannedTexts>({
    texts: z.array(z.object({ title: z.string(), heading: z.string(), text: text('Markdown.') })),
  }),
  'CannedTexts',
  "The shop's own texts, for replies.",
);
