import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { VisitorId } from '../../types/ids.ts';
import type { ChatShop } from './chat-shop.ts';
import type { HandshakeCode } from './events.ts';
import { type Identity, verifyIdentity } from './identity.ts';
import type { ChatLimits, Limited } from './limits.ts';
import { Origins } from './origins.ts';
import { newVisitorId, type TokenBearer, type VisitorTokens } from './visitor-token.ts';
import type { Labels, Visitors } from './visitors.ts';

/** Where a connection comes from. */
export interface Peer {
  readonly origin: string | undefined;
  readonly network: string;
  /** How many connections of this network were open when this one came, itself included. */
  readonly ordinal: number;
}

/** A handshake that succeeded. */
export interface Admission {
  readonly shop: ChatShop;
  readonly visitorId: VisitorId;
  readonly record: VisitorRecord | undefined;
  /** The last line that this client has of this very visitor. */
  readonly lastSeq: number;
  readonly network: string;
}

/** Becomes the `connect_error`; socket.io sends `data` along. */
export class HandshakeRefused extends Error {
  override name = 'HandshakeRefused';
  readonly data: { readonly code: HandshakeCode; readonly retryAfter?: number };
  constructor(code: HandshakeCode, limited?: Limited) {
    super(code);
    this.data = { code, ...limited };
  }
}

/** A token or a number that cannot be used is as good as none; the two others are told. */
const authSchema = z.object({
  key: z.string().max(256),
  token: z.string().optional().catch(undefined),
  identity: z.unknown().optional(),
  lastSeq: z.int().nonnegative().optional().catch(undefined),
});

export interface HandshakeParts {
  readonly shops: ReadonlyMap<string, ChatShop>;
  readonly tokens: VisitorTokens;
  readonly store: ChatStore;
  readonly visitors: Visitors;
  readonly clock: Clock;
  readonly limits: (shop: ChatShop) => ChatLimits;
}

/** Decides who a connecting client is. */
export class Handshake {
  readonly #parts: HandshakeParts;

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
  }

  /** @throws {HandshakeRefused} or whatever the store throws */
  async admit(rawAuth: unknown, peer: Peer): Promise<Admission> {
    const { shops, tokens, limits } = this.#parts;
    const auth = authSchema.safeParse(rawAuth).data;
    const shop = auth && shops.get(auth.key);
    if (auth === undefined || shop === undefined) throw new HandshakeRefused('unknown_key');
    if (!Origins.admits(shop, peer.origin)) throw new HandshakeRefused('origin');
    if (peer.ordinal > shop.limits.socketsPerIp) throw new HandshakeRefused('rate_limited');
    const limited = await limits(shop).handshake(peer.network);
    if (limited !== undefined) throw new HandshakeRefused('rate_limited', limited);

    const bearer = auth.token === undefined ? undefined : tokens.verify(auth.token);
    const anonymous = bearer?.widgetKey === shop.key ? bearer : undefined;
    const record =
      auth.identity === undefined || auth.identity === null
        ? await this.#recordOf(shop, anonymous)
        : await this.#identify(shop, await this.#identityOf(shop, auth.identity), anonymous);
    const visitorId = record?.id ?? anonymous?.visitorId ?? newVisitorId();
    const known = anonymous?.visitorId === visitorId ? (auth.lastSeq ?? 0) : 0;
    // A number from another record, or from before a restored backup, says nothing here.
    const lastSeq = known <= (record?.lastSeq ?? 0) ? known : 0;
    return { shop, visitorId, record, lastSeq, network: peer.network };
  }

  #recordOf(shop: ChatShop, bearer: TokenBearer | undefined): Promise<VisitorRecord | undefined> {
    if (bearer === undefined) return Promise.resolve(undefined);
    return this.#parts.store.visitor(shop.shopId, bearer.visitorId);
  }

  async #identityOf(shop: ChatShop, jwt: unknown): Promise<Identity> {
    const identity =
      typeof jwt === 'string'
        ? await verifyIdentity(jwt, {
            secrets: shop.identitySecrets,
            audience: shop.key,
            now: this.#parts.clock(),
          })
        : undefined;
    if (identity === undefined) throw new HandshakeRefused('bad_identity');
    return identity;
  }

  /**
   * The visitor that this identity names, the same one on every device. An anonymous visitor who
   * has no identity yet becomes it, unless it exists already; one who is somebody else stays so,
   * and this client leaves him.
   */
  async #identify(
    shop: ChatShop,
    identity: Identity,
    bearer: TokenBearer | undefined,
  ): Promise<VisitorRecord> {
    const { store, visitors, clock } = this.#parts;
    const { shopId } = shop;
    const { subject } = identity;
    const existing = await store.visitorBySubject(shopId, subject);
    if (existing !== undefined) return this.#refresh(existing, identity);

    const anonymous = await this.#recordOf(shop, bearer);
    if (anonymous?.subject === undefined && anonymous !== undefined) {
      // An address that the visitor typed must not pass for one that was verified.
      await store.updateVisitor(shopId, anonymous.id, {
        subject,
        email: '',
        ...labelsOf(identity),
      });
    } else {
      const isFree = bearer !== undefined && anonymous === undefined;
      const id = isFree ? bearer.visitorId : newVisitorId();
      await store.createVisitor({ shopId, id, createdAt: clock(), subject, ...labelsOf(identity) });
    }
    // Read back: when two devices identify at the same moment, the first one stands for both.
    const settled = await store.visitorBySubject(shopId, subject);
    if (settled === undefined) throw new Error('a visitor that was stored cannot be found');
    visitors.remember(settled);
    return settled;
  }

  async #refresh(record: VisitorRecord, identity: Identity): Promise<VisitorRecord> {
    const { email, name } = identity;
    const isSame =
      (email === undefined || email === record.email) &&
      (name === undefined || name === record.name);
    return isSame ? record : this.#parts.visitors.label(record, labelsOf(identity));
  }
}

const labelsOf = ({ name, email }: Identity): Labels => ({
  ...(name !== undefined && { name }),
  ...(email !== undefined && { email }),
});
