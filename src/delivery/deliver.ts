import { text } from 'node:stream/consumers';
import type { Intake } from '../intake/intake.ts';
import type { Normalized, Normalizer } from '../intake/normalizer.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { CreateEventRequest } from '../platform-api/schemas.ts';
import type { NewEntry, Outcome, RawForm } from '../spool/entry.ts';
import { assertIntact } from '../spool/blobs.ts';
import type { DeliverySpool } from '../spool/spool.ts';
import type { Channel } from '../domain/channel.ts';
import type { PlainCode } from '../domain/reasons.ts';
import { readAnswer, Refused } from './answer.ts';
import { compose } from './compose.ts';
import type { Conversations } from './conversations.ts';
import { eventArrival } from '../intake/timeline-event.ts';
import { submit } from './submit.ts';
import { uploadAttachments } from './upload-attachments.ts';
import { forbidden, type Submitted, type Work } from './work.ts';

export interface DeliveryParts {
  readonly spool: DeliverySpool;
  readonly intake: Pick<Intake, 'accept' | 'entryFor'>;
  readonly conversations: Conversations;
  readonly normalizers: Readonly<Record<Channel, Normalizer>>;
}

export interface Delivered {
  readonly outcome: Outcome;
  /** Stored in the commit that settles the entry. */
  readonly followUps?: readonly NewEntry[];
}

/**
 * Makes one attempt at one entry, from its raw form to the platform's answer.
 * @throws any error that ended the attempt; `outcomeOf` turns it into an outcome
 */
export async function deliver(work: Work, parts: DeliveryParts): Promise<Delivered> {
  const { claimed, notes, steps, record } = work;
  await assertIntact(claimed.raw, parts.spool.blobs);
  if (claimed.entry.kind === 'event') return { outcome: await deliverEvent(work) };
  const normalized = await steps.timed('normalize', () =>
    parts.normalizers[claimed.entry.channel](claimed, work.signal),
  );
  try {
    for (const { step, detail } of normalized.steps ?? []) steps.add(step, detail);
    steps.add('normalized', { ...normalized.findings, attachments: normalized.attachments.length });
    record.request(normalized.request);
    record.trimmed(normalized.trimmed);
    const { verdict } = normalized;
    // If the platform has the message already, the verdict no longer matters.
    if (verdict.kind === 'deliver' || notes.value.submitted !== undefined) {
      const { unverifiedFrom, isEcho } = normalized;
      if (verdict.kind === 'deliver') await acceptEvents(work, verdict.events ?? [], parts.intake);
      return await deliverMessage({ ...work, unverifiedFrom, isEcho }, normalized, parts);
    }
    for (const file of normalized.attachments) record.attachment(file, undefined, undefined);
    if (verdict.kind === 'suppressed') {
      const { events = [] } = verdict;
      record.about(events.flatMap(({ contact }) => contact?.email ?? contact?.phone ?? []));
      await acceptEvents(work, events, parts.intake);
    }
    return { outcome: { state: verdict.kind, reason: verdict.reason } };
  } finally {
    // A failure must not undo a delivery; the next start sweeps remaining scratch files.
    await normalized.dispose().catch(() => undefined);
  }
}

async function deliverMessage(
  work: Work,
  normalized: Normalized,
  { conversations, intake }: DeliveryParts,
): Promise<Delivered> {
  const { steps, record, notes } = work;
  const { submitted } = notes.value;
  if (submitted !== undefined) {
    const { id, late } = submitted;
    const taken = await recalled(work, normalized, id);
    return finish(work, taken, { normalized, late, conversations, intake });
  }
  const { attachments } = normalized;
  const uploaded = await uploadAttachments(work, attachments, { anew: false });
  const conversationId = await steps.timed('conversation', () => conversations.find(work));
  const composed = compose(normalized, uploaded, conversationId);
  record.request(composed.request);
  const taken = await submit(work, {
    ...composed,
    anew: async () =>
      compose(
        normalized,
        await uploadAttachments(work, attachments, { anew: true }),
        conversationId,
      ),
  });
  // From here on no failure causes the message to be sent again.
  const id = taken.message?.id;
  notes.set({ submitted: { ...(id && { id }), late: [...uploaded.late] } });
  return finish(work, taken, { normalized, late: uploaded.late, conversations, intake });
}

/** Rebuilds what an earlier attempt submitted, as far as possible. */
async function recalled(
  { claimed: { entry }, notes, spool }: Work,
  { request, attachments }: Normalized,
  id: string | undefined,
): Promise<Submitted> {
  const conversation = entry.channel === 'email' ? undefined : await spool.conversation(entry);
  const isPlain = attachments.length === 0 && notes.value.forms.length === 0;
  return {
    request:
      conversation === undefined
        ? request
        : { ...request, conversation: { ...request.conversation, id: conversation.id } },
    message: id === undefined ? undefined : { id },
    ...(!isPlain && { isRecalled: true }),
  };
}

/** After acceptance by the platform: learns the conversation, adds the follow-up for late files. */
async function finish(
  work: Work,
  taken: Submitted,
  {
    normalized,
    late,
    conversations,
    intake,
  }: Pick<DeliveryParts, 'conversations' | 'intake'> & {
    readonly normalized: Normalized;
    readonly late: readonly string[];
  },
): Promise<Delivered> {
  const conversationId = await conversations.learn(work, taken);
  const followUp = late.length === 0 ? undefined : normalized.followUp?.(late);
  const { message, caveat } = taken;
  return {
    outcome: {
      state: 'delivered',
      ...(message?.id && { platformMessageId: message.id }),
      ...(conversationId !== undefined && { conversationId }),
      ...(caveat !== undefined && { caveat }),
    },
    ...(followUp !== undefined && { followUps: [intake.entryFor(followUp)] }),
  };
}

/**
 * Stores the timeline events of a message as entries of their own, durable before the
 * message settles. Their dedup keys make a second attempt at the message harmless.
 */
async function acceptEvents(
  { claimed: { entry } }: Work,
  events: readonly CreateEventRequest[],
  intake: DeliveryParts['intake'],
): Promise<void> {
  if (events.length === 0) return;
  await intake.accept(
    events.map((event, index) => {
      const { shopId, channel, lane } = entry;
      const dedupKey = `event/${entry.id}/${index}`;
      return eventArrival(event, { shopId, channel, lane, dedupKey });
    }),
  );
}

/** Submits a timeline event (API §4.1). Creates no contact: a forged bounce must not add any. */
async function deliverEvent(work: Work): Promise<Outcome> {
  const { claimed, spool, record, steps, requests } = work;
  // Written by `eventArrival`.
  const event = JSON.parse(await readText(claimed.raw, spool)) as CreateEventRequest;
  record.request(event);
  const about = await whomAbout(work, event);
  if (about !== 'known') return { state: 'suppressed', reason: { code: about } };
  try {
    await steps.timed('submit', () =>
      requests.call('messages', (client, signal) => client.createEvent(event, signal)),
    );
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (readAnswer(error) === 'refused') throw new Refused(error);
    throw await forbidden(work, 'messages', error);
  }
  steps.add('submitted');
  return { state: 'delivered' };
}

async function whomAbout(
  { requests }: Work,
  { contact }: CreateEventRequest,
): Promise<'known' | Extract<PlainCode, 'no_such_contact' | 'contacts_not_readable'>> {
  if (contact === undefined) return 'known';
  const { email, phone } = contact;
  if (email === undefined && phone === undefined) return 'no_such_contact';
  const query = email === undefined ? { phone } : { email };
  const found = await requests.ask((client, signal) =>
    client.listContacts({ ...query, limit: 1 }, signal),
  );
  if (found === undefined) return 'contacts_not_readable';
  return found.results.length > 0 ? 'known' : 'no_such_contact';
}

function readText(raw: RawForm, spool: DeliverySpool): Promise<string> | string {
  return raw.kind === 'inline'
    ? Buffer.from(raw.bytes).toString()
    : text(spool.blobs.read(raw.blob));
}
