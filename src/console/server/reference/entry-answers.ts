import { z } from 'zod';
import type { DeliveryRecord } from '../../../spool/operator-store.ts';
import {
  BODY_CHOICES,
  CUT_RULES,
  PART_USES,
  SENDER_CHOICES,
  STAY_RULES,
  TRIM_DECISIONS,
  type WordedReading as Reading,
} from '../../../domain/email-reading.ts';
import {
  answer,
  channel,
  count,
  loosely,
  named,
  reasonFields,
  state,
  text,
  time,
} from './answers.ts';

export const entryRow = z.object({
  id: z.string(),
  kind: z.enum(['message', 'event']),
  shop: text('The configured name, or the id of a shop that is no longer configured.'),
  channel,
  state,
  receivedAt: time(),
  settledAt: time('When it reached a state without further attempts').optional(),
  nextAttemptAt: time('When a queued entry is due').optional(),
  waitsFor: z
    .enum(['shop', 'media', 'refusal'])
    .optional()
    .describe('What a queued entry waits for instead of a time.'),
  attempts: count.describe('Attempts that the retry schedule counts.'),
  failures: count.describe('Failed attempts, whatever the cause.'),
  from: text('Name and address or number of the sender; empty when unknown.'),
  to: z.string(),
  subject: text('Of an email; the name of an event.'),
  snippet: text('The beginning of a text or chat message, if `admin.snippets` is set.').optional(),
  bytes: count,
  ...reasonFields,
});

export const entryList = named(
  z.object({
    entries: z.array(named(entryRow, 'Entry', 'A message or an event, in a list.')),
    next: text('`before` of the next page; absent at the end.').optional(),
    total: z
      .object({ count, exact: z.boolean() })
      .optional()
      .describe('The number of matches, up to 10,000; present with `count=1`.'),
    searchIsComplete: z.boolean().describe('False while the index for `text` is behind.'),
  }),
  'EntryList',
  'A page of entries, newest first.',
);

const step = z.object({
  at: time(),
  step: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  tookMs: z.number().describe('Its duration, without the wait before its attempt.'),
  attempt: count.optional(),
});

export const entryDetail = named(
  z.object({
    ...entryRow.shape,
    shopId: z.string(),
    lane: text('Entries of one lane are delivered in order.'),
    remoteId: text('`message.remote_id` at the platform.'),
    detached: z.boolean(),
    platformMessageId: z.string().optional(),
    conversationId: z.string().optional(),
    ticketId: z.string().optional(),
    timeline: z.array(step),
    actions: z
      .array(z.enum(['retry', 'release', 'discard', 'restore']))
      .describe('The currently allowed actions.'),
    rawKept: z.boolean(),
    keptUntil: time('When the original of a settled entry is deleted').optional(),
    authentication: z
      .record(z.string(), z.string())
      .optional()
      .describe('The results of SPF, DKIM, DMARC and ARC.'),
    classification: z
      .object({
        verdict: z.string(),
        ...reasonFields,
        reason: z.string(),
      })
      .optional(),
    hasRecord: z.boolean(),
    about: z
      .array(z.string())
      .optional()
      .describe('The people on whose timelines it is noted: whom a bounce says was not reached.'),
    previous: text('The entry that was accepted before.').optional(),
    following: text('The entry that was accepted after it.').optional(),
  }),
  'EntryDetail',
  'An entry with its timeline, without its content.',
);

export const entryContent = named(
  z.object({
    raw: z
      .object({ text: z.string(), truncated: z.boolean(), type: z.string() })
      .optional()
      .describe('The beginning of the message as received.'),
    received: z.object({
      text: z.string().optional(),
      hasHtml: z.boolean(),
    }),
    payload: z.unknown().optional().describe('The create-message request.'),
    trimmed: text('What was removed as a quote or signature.').optional(),
    attachments: z.array(
      answer<DeliveryRecord['attachments'][number]>({
        part: z.string(),
        name: z.string(),
        type: z.string(),
        bytes: count,
        mediaId: z.string().optional(),
      }),
    ),
  }),
  'EntryContent',
  'What was received, and what was or would be submitted.',
);

const keysOf = <T extends object>(table: T) => z.enum(Object.keys(table) as (keyof T & string)[]);

export const entryReading = named(
  answer<Reading>({
    decision: loosely<Reading['decision']>(
      z.object({ kind: z.enum(['deliver', 'held', 'suppressed']), ...reasonFields }),
    ),
    sender: answer<Reading['sender']>({
      address: z.string().optional(),
      because: keysOf(SENDER_CHOICES),
      checks: z.record(z.string(), z.string()).optional(),
      verified: z.boolean(),
      words: loosely<Reading['sender']['words']>(z.string()),
    }),
    parts: z.array(
      answer<Reading['parts'][number]>({
        number: text('`1.2` is the second part of the first part.'),
        type: z.string(),
        bytes: count.optional(),
        charset: z.string().optional(),
        name: z.string().optional(),
        use: keysOf(PART_USES),
        words: loosely<Reading['parts'][number]['words']>(z.string()),
      }),
    ),
    body: answer<Reading['body']>({
      why: keysOf(BODY_CHOICES),
      words: loosely<Reading['body']['words']>(z.string()),
    }),
    quotes: answer<Reading['quotes']>({
      why: keysOf(TRIM_DECISIONS),
      words: loosely<Reading['quotes']['words']>(z.string()),
      cut: z.array(
        answer<Reading['quotes']['cut'][number]>({
          rule: keysOf(CUT_RULES),
          lines: count,
          at: z.string(),
          words: loosely<Reading['quotes']['cut'][number]['words']>(z.string()),
        }),
      ),
      stayed: z.array(
        answer<Reading['quotes']['stayed'][number]>({
          rule: keysOf(STAY_RULES),
          lines: count,
          at: z.string(),
          words: loosely<Reading['quotes']['stayed'][number]['words']>(z.string()),
        }),
      ),
    }),
    findings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  }),
  'EntryReading',
  'How an email was read, each choice with a code and its words.',
);
