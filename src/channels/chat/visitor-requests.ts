import type { Intake } from '../../intake/intake.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { ChatStore } from '../../spool/chat-store.ts';
import type { Conversations } from '../../spool/spool.ts';
import { STEP_BYTES } from './engine.ts';
import {
  type AttachmentInfo,
  type ErrorWord,
  MAX_HISTORY,
  type PlainAck,
  type ProfileAck,
  type ProfileRequest,
  type RateRequest,
} from './events.ts';
import type { Limited } from './limits.ts';
import { ratingArrival } from './receive.ts';
import type { Visitor, Visitors } from './visitors.ts';

/** What a visitor asks for besides messages: each is checked, and what it changes is durable. */

export interface RequestParts {
  readonly store: ChatStore;
  readonly intake: Pick<Intake, 'accept'>;
  readonly conversations: Pick<Conversations, 'conversation'>;
  readonly visitors: Visitors;
  readonly replies?: ReplyPlatform;
  readonly clock: Clock;
}

/** What a platform knows and is told of its replies besides their list. Ids are its own. */
export interface ReplyPlatform {
  /** A tab of a visitor has received them, or the visitor has seen them. */
  report(shopId: ShopId, ids: readonly string[], state: 'delivered' | 'read'): void;
  /** The files of a reply. */
  filesOf(shopId: ShopId, id: string): readonly AttachmentInfo[];
  /**
   * A visitor asks for replies at this address once they have left. Resolves once it is durable.
   * @returns `confirms`: an email asks whoever reads it; undefined: this platform sends none
   */
  addressLeft(
    shopId: ShopId,
    visitorId: VisitorId,
    left: { readonly email: string; readonly language: string; readonly network: string },
  ): Promise<'confirms' | 'invalid' | undefined>;
  /** Replies to this visitor go to no address that was left before. Resolves once it is durable. */
  forgetAddress(shopId: ShopId, visitorId: VisitorId): Promise<void>;
}

/** Why a request is refused. */
export interface Refused {
  readonly refused: ErrorWord;
  readonly limited?: Limited;
}

type Accepted<Ack> = Extract<Ack, { readonly ok: true }>;

const RETRY_RATING: Limited = { retryAfter: 5 };

/** Labels this visitor; with `notify`, asks for replies at the address once they have left. */
export async function setProfile(
  visitor: Visitor,
  network: string,
  { name, email, notify }: ProfileRequest,
  { visitors, replies }: RequestParts,
): Promise<Accepted<ProfileAck> | Refused> {
  const { shop, visitorId } = visitor;
  const record = visitor.record ?? (await visitors.stored(shop, visitorId, network));
  // The address of a verified visitor can come from the shop's own server only.
  if (email !== undefined && record.subject !== undefined) return { refused: 'unauthorized' };
  const language = notify?.language ?? 'en';
  const asked =
    email && notify
      ? await replies?.addressLeft(shop.shopId, visitorId, { email, language, network })
      : undefined;
  if (asked === 'invalid') return { refused: 'invalid' };
  await visitors.label(record, { ...(name && { name }), ...(email && { email }) });
  return { ok: true, ...(asked === 'confirms' && { confirms: true }) };
}

/** Rates the visitor's current conversation. A duplicate is accepted and changes nothing. */
export async function rate(
  { shopId, visitorId }: Visitor,
  request: RateRequest,
  { store, conversations, intake, clock }: RequestParts,
): Promise<Accepted<PlainAck> | Refused> {
  // Read anew: another tab may have started a conversation.
  const record = await store.visitor(shopId, visitorId);
  if (record === undefined) return { refused: 'invalid' };
  const { lane } = record;
  const known = await conversations.conversation({ shopId, channel: 'web_chat', lane });
  if (known === undefined) return { refused: 'busy', limited: RETRY_RATING };
  await intake.accept([ratingArrival(record, request, known.id, clock())]);
  return { ok: true };
}

/** Notes that the visitor has seen all lines up to this one. */
export async function noteSeen(
  visitor: Visitor,
  seenSeq: number,
  { store, visitors, replies }: RequestParts,
): Promise<void> {
  const { record } = visitor;
  if (record === undefined || seenSeq <= record.seenSeq) return;
  const { shopId, id, seenSeq: before } = record;
  await store.updateVisitor(shopId, id, { seenSeq });
  if (replies !== undefined) {
    // Only the newest ones: nobody reads more at once.
    const limit = Math.min(seenSeq - before, MAX_HISTORY);
    const lines = await store.linesBefore(shopId, id, seenSeq + 1, limit, STEP_BYTES);
    const ids = lines.filter(({ from }) => from === 'agent').map((line) => line.id);
    if (ids.length > 0) replies.report(shopId, ids, 'read');
  }
  visitors.remember({ ...(visitor.record ?? record), seenSeq });
}
