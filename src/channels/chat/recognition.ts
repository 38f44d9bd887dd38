import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { VisitorId } from '../../domain/ids.ts';
import type { ChatShop } from './shop.ts';
import type { Identity } from './identity.ts';
import { newVisitorId, type TokenBearer } from './visitor-token.ts';
import type { Visitors } from './visitors.ts';

export interface RecognitionParts {
  readonly store: ChatStore;
  readonly visitors: Visitors;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Who a client is; without a record he has left no trace yet. */
export interface Recognised {
  readonly visitorId: VisitorId;
  readonly record: VisitorRecord | undefined;
}

/**
 * Other tabs may still have the token of a guest who has just said in one of them who he is; within
 * this time they are told to ask again, with the token that the first one has got.
 */
const SUPERSEDED_MS = 60_000;

/**
 * Tells visitors by their tokens and identities.
 *
 * A token that was minted for a guest stands for nobody once the guest is known by his identity:
 * it may have been somebody else's before (a shared computer, a token that was planted), and would
 * open all that the verified visitor ever wrote, and will. So it neither reads nor writes there,
 * and joins nobody a second time. The one history that an identity takes along is that of the guest
 * on whose own token it comes.
 */
export class Recognition {
  readonly #parts: RecognitionParts;
  readonly #supersededUntil = new Map<string, number>();

  constructor(parts: RecognitionParts) {
    this.#parts = parts;
  }

  /** @returns `superseded`: a token that another one has just taken the place of */
  async byToken(
    shop: ChatShop,
    bearer: TokenBearer | undefined,
  ): Promise<Recognised | 'superseded'> {
    if (bearer === undefined) return { visitorId: newVisitorId(), record: undefined };
    const { visitorId } = bearer;
    const record = await this.#parts.store.visitor(shop.shopId, visitorId);
    if (stands(bearer, record)) return { visitorId, record };
    if (this.isSuperseded(shop, visitorId)) return 'superseded';
    return { visitorId: newVisitorId(), record: undefined };
  }

  /** The visitor that this identity names, the same one on every device. */
  async byIdentity(
    shop: ChatShop,
    identity: Identity,
    bearer: TokenBearer | undefined,
  ): Promise<Recognised> {
    const { store, visitors, clock, logger } = this.#parts;
    const guestId = bearer?.verified === false ? bearer.visitorId : undefined;
    const { visitor, superseded, joinedLines } = await store.identifyVisitor({
      ...{ ...identity, shopId: shop.shopId, newId: newVisitorId(), at: clock() },
      ...(guestId !== undefined && { guestId }),
    });
    visitors.remember(visitor);
    if (superseded !== undefined) {
      this.#supersede(shop, superseded);
      logger.info('chat.identified', { visitor: visitor.id, guest: superseded, joinedLines });
    }
    if (joinedLines > 0) visitors.catchUp(shop.shopId, visitor.id);
    return { visitorId: visitor.id, record: visitor };
  }

  /** Whether this guest has said who he is within the last minute. */
  isSuperseded(shop: ChatShop, visitorId: VisitorId): boolean {
    const until = this.#supersededUntil.get(`${shop.shopId}/${visitorId}`);
    return until !== undefined && until > this.#parts.clock();
  }

  #supersede(shop: ChatShop, guestId: VisitorId): void {
    const now = this.#parts.clock();
    for (const [key, until] of this.#supersededUntil) {
      if (until > now) break;
      this.#supersededUntil.delete(key);
    }
    this.#supersededUntil.set(`${shop.shopId}/${guestId}`, now + SUPERSEDED_MS);
    this.#parts.visitors.closeTabs(shop.shopId, guestId);
  }
}

/** Whether a token stands for the visitor that it names. */
export function stands(
  { verified }: Pick<TokenBearer, 'verified'>,
  record: VisitorRecord | undefined,
): boolean {
  if (record === undefined) return true;
  return record.joined === undefined && (verified || record.subject === undefined);
}
