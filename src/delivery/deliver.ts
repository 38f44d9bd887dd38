import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Intake } from '../intake/intake.ts';
import type { Normalized, Normalizer } from '../intake/normalizer.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { type CreateEventRequest, createEventRequestSchema } from '../platform-api/schemas.ts';
import type { Claimed, Outcome, RawForm } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import type { Channel } from '../types/channel.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { compose } from './compose.ts';
import type { Conversations } from './conversations.ts';
import { readAnswer, Refused } from './failure.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';
import { submit } from './submit.ts';
import { uploadAttachments } from './upload-attachments.ts';

export interface DeliveryParts {
  readonly spool: Spool;
  readonly intake: Intake;
  readonly conversations: Conversations;
  readonly normalizers: Readonly<Record<Channel, Normalizer>>;
}

/**
 * One attempt at one entry, from its raw form to the platform's answer.
 * @throws whatever stopped it; `outcomeOf` says what that comes to
 */
export async function deliver(
  claimed: Claimed,
  shop: ShopPlatform,
  parts: DeliveryParts,
  steps: Steps,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<Outcome> {
  if (claimed.entry.kind === 'event')
    return deliverEvent(claimed, shop, parts, steps, record, signal);

  const normalized = await steps.timed('normalize', () =>
    parts.normalizers[claimed.entry.channel](claimed, signal),
  );
  try {
    for (const { step, detail } of normalized.steps ?? []) steps.add(step, detail);
    steps.add('normalized', { ...normalized.notes, attachments: normalized.attachments.length });
    record.request(normalized.request);
    record.trimmed(normalized.trimmed);
    const { verdict } = normalized;
    if (verdict.kind !== 'deliver') {
      for (const file of normalized.attachments) record.attachment(file, undefined, undefined);
    }
    if (verdict.kind === 'held') return { state: 'held', reason: verdict.reason };
    if (verdict.kind === 'suppressed') {
      await acceptEvents(claimed, verdict.events ?? [], parts.intake);
      return { state: 'suppressed', reason: verdict.reason };
    }
    return await deliverMessage(claimed, normalized, shop, parts, steps, record, signal);
  } finally {
    await normalized.dispose();
  }
}

async function deliverMessage(
  claimed: Claimed,
  normalized: Normalized,
  shop: ShopPlatform,
  { spool, conversations }: DeliveryParts,
  steps: Steps,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<Outcome> {
  const { entry } = claimed;
  const { attachments } = normalized;
  const upload = { shop, spool, steps, record };
  const uploaded = await uploadAttachments(claimed, attachments, upload, signal);
  const conversationId = await steps.timed('conversation', () =>
    conversations.find(entry, shop, steps, signal),
  );
  const submission = compose(normalized, uploaded, conversationId);
  record.request(submission.request);
  const submitting = { shop, conversations, steps, record };
  const { message, request } = await submit(entry, submission, submitting, signal);
  const learned = await conversations.learn(entry, request, message, shop, signal);
  return {
    state: 'delivered',
    ...(message?.id !== undefined && { platformMessageId: message.id }),
    ...(learned !== undefined && { conversationId: learned }),
  };
}

/**
 * A suppressed message's lines on contacts' timelines: entries of their own, durable before the
 * message settles. Their dedup keys make a second attempt at the message harmless.
 */
async function acceptEvents(
  { entry }: Claimed,
  events: readonly CreateEventRequest[],
  intake: Intake,
): Promise<void> {
  if (events.length === 0) return;
  await intake.accept(
    events.map((event, index) => ({
      shopId: entry.shopId,
      channel: entry.channel,
      kind: 'event',
      lane: `event/${entry.lane}`,
      dedupKey: `event/${entry.id}/${index}`,
      remoteId: `event:${randomUUID()}`,
      meta: {},
      raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify(event)) },
    })),
  );
}

/** API §4.1. An event never creates a contact: a forged bounce must not fill the address book. */
async function deliverEvent(
  { raw }: Claimed,
  shop: ShopPlatform,
  { spool }: DeliveryParts,
  steps: Steps,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<Outcome> {
  const event = createEventRequestSchema.parse(JSON.parse(await readText(raw, spool)));
  record.request(event);
  if (!(await isAboutSomeone(event, shop, signal))) {
    return { state: 'suppressed', reason: 'no such contact' };
  }
  try {
    await steps.timed('submit', () =>
      shop.call('messages', signal, () => shop.client.createEvent(event, signal)),
    );
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (readAnswer(error) !== 'refused') await shop.assertAccepted(signal);
    throw new Refused(error);
  }
  steps.add('submitted');
  return { state: 'delivered' };
}

async function isAboutSomeone(
  { contact }: CreateEventRequest,
  shop: ShopPlatform,
  signal: AbortSignal,
): Promise<boolean> {
  if (contact === undefined) return true;
  const { email, phone } = contact;
  if (email === undefined && phone === undefined) return false;
  const query = email === undefined ? { phone } : { email };
  const found = await shop.call('messages', signal, () =>
    shop.client.listContacts({ ...query, limit: 1 }, signal),
  );
  return found.results.length > 0;
}

function readText(raw: RawForm, spool: Spool): Promise<string> | string {
  return raw.kind === 'inline'
    ? Buffer.from(raw.bytes).toString()
    : text(spool.blobs.read(raw.blob));
}
