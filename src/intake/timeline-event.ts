import { randomUUID } from 'node:crypto';
import type { CreateEventRequest } from '../platform-api/schemas.ts';
import { parsedJson, type StoredFormReader, shownText } from '../spool/stored-form.ts';
import type { Arrival } from './intake.ts';

/**
 * The arrival of a timeline or metric event. It is stored and retried like a message, in a lane of
 * its own, so that it never holds messages back.
 */
export function eventArrival(
  event: CreateEventRequest,
  { shopId, channel, lane, dedupKey }: Pick<Arrival, 'shopId' | 'channel' | 'lane' | 'dedupKey'>,
): Arrival {
  const bytes = Buffer.from(JSON.stringify(event));
  return {
    ...{ shopId, channel, dedupKey },
    kind: 'event',
    lane: `event/${lane}`,
    remoteId: `event:${randomUUID()}`,
    meta: {},
    raw: { kind: 'inline', bytes },
    summary: storedEvent.summaryOf({}, bytes),
  };
}

/** The stored form of an event: its create-event request as JSON. */
export const storedEvent: StoredFormReader = {
  summaryOf: (_meta, beginning) => {
    const event = parsedJson(beginning);
    const [from = ''] = contactIn(event);
    const name = fieldOf(event, 'name');
    const subject = typeof name === 'string' ? shownText(name) : '';
    return { from: shownText(from), to: '', subject, more: '' };
  },
  identitiesIn: ({ event }) => contactIn(parsedJson(event ?? new Uint8Array())),
};

/** The email address and phone number of the event's contact. */
function contactIn(event: unknown): string[] {
  const contact = fieldOf(event, 'contact');
  return [fieldOf(contact, 'email'), fieldOf(contact, 'phone')].filter(
    (identity): identity is string => typeof identity === 'string' && identity !== '',
  );
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
