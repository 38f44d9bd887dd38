import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { VisitorRecord } from '../../spool/chat-store.ts';
import type { VisitorId } from '../../domain/ids.ts';
import type { ChatShop } from './shop.ts';
import type { HandshakeCode } from './events.ts';
import { type Identity, verifyIdentity } from './recognition.ts';
import type { ChatLimits, Limited } from './limits.ts';
import { Origins } from './shop.ts';
import type { Recognition } from './recognition.ts';
import type { TokenBearer, VisitorTokens } from './recognition.ts';

/** By then, the first tab has its new token. */
const RETRY_SUPERSEDED_SECONDS = 1;
/** Until another socket of the network is closed. */
const RETRY_SOCKETS_SECONDS = 30;

/** The origin of a connection. */
export interface Peer {
  readonly origin: string | undefined;
  readonly network: string;
  /** How many connections of this network were open, including this one. */
  readonly ordinal: number;
}

/** A handshake that succeeded. */
export interface Admission {
  readonly shop: ChatShop;
  readonly visitorId: VisitorId;
  readonly record: VisitorRecord | undefined;
  /** The last line of this visitor that the client has. */
  readonly lastSeq: number;
  readonly network: string;
}

/** Sent as `connect_error`; socket.io includes `data`. */
export class HandshakeRefused extends Error {
  override name = 'HandshakeRefused';
  readonly data: { readonly code: HandshakeCode; readonly retryAfter?: number };
  constructor(code: HandshakeCode, limited?: Limited) {
    super(code);
    this.data = { code, ...limited };
  }
}

/** An unusable token or number counts as absent; mistakes in the other two are reported. */
const authSchema = z.object({
  key: z.string().max(256),
  token: z.string().optional().catch(undefined),
  identity: z.unknown().optional(),
  lastSeq: z.int().nonnegative().optional().catch(undefined),
});

export interface HandshakeParts {
  readonly shops: ReadonlyMap<string, ChatShop>;
  readonly tokens: VisitorTokens;
  readonly recognition: Recognition;
  readonly clock: Clock;
  readonly limits: (shop: ChatShop) => ChatLimits;
}

/** Decides which visitor a connecting client is. */
export class Handshake {
  readonly #parts: HandshakeParts;

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
  }

  /** @throws {HandshakeRefused} and the errors of the store */
  async admit(rawAuth: unknown, peer: Peer): Promise<Admission> {
    const { shops, recognition, limits } = this.#parts;
    const auth = authSchema.safeParse(rawAuth).data;
    const shop = auth && shops.get(auth.key);
    if (auth === undefined || shop === undefined) throw new HandshakeRefused('unknown_key');
    if (!Origins.admits(shop, peer.origin)) throw new HandshakeRefused('origin');
    if (peer.ordinal > shop.limits.socketsPerIp) {
      throw new HandshakeRefused('rate_limited', { retryAfter: RETRY_SOCKETS_SECONDS });
    }
    const limited = await limits(shop).handshake(peer.network);
    if (limited !== undefined) throw new HandshakeRefused('rate_limited', limited);

    const bearer = this.#bearerOf(shop, auth.token);
    const recognised =
      auth.identity === undefined || auth.identity === null
        ? await recognition.byToken(shop, bearer)
        : await recognition.byIdentity(shop, await this.#identityOf(shop, auth.identity), bearer);
    if (recognised === 'superseded') {
      throw new HandshakeRefused('busy', { retryAfter: RETRY_SUPERSEDED_SECONDS });
    }
    const { visitorId, record } = recognised;
    const known = bearer?.visitorId === visitorId ? (auth.lastSeq ?? 0) : 0;
    // A number from another record, or from before a restored backup, is meaningless here.
    const lastSeq = known <= (record?.lastSeq ?? 0) ? known : 0;
    return { shop, visitorId, record, lastSeq, network: peer.network };
  }

  /** A token of another widget counts as absent. */
  #bearerOf(shop: ChatShop, token: string | undefined): TokenBearer | undefined {
    const bearer = token === undefined ? undefined : this.#parts.tokens.verify(token);
    return bearer?.widgetKey === shop.key ? bearer : undefined;
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
}
