import type { ShopId } from '../../domain/ids.ts';
import type { ReplyAuthor } from '../../spool/chat-store.ts';
import type { Author, WidgetConfig } from './events.ts';

/** The chat settings of one shop. */
export interface ChatShop {
  readonly shopId: ShopId;
  /** The widget key, which is public in the shop's page. */
  readonly key: string;
  /** Exact origins as browsers send them: scheme, host and port. */
  readonly origins: readonly string[];
  /** Accepts clients without an Origin header: programs, but never browsers. */
  readonly allowNoOrigin: boolean;
  /** The secrets of identity JWTs; several during a replacement. */
  readonly identitySecrets: readonly string[];
  readonly limits: ChatLimitOptions;
  /** The appearance of the widget; the default one if absent. */
  readonly widget?: WidgetConfig;
  /** The people whom the configuration names, by the platform's ids in lower case. */
  readonly people?: ReadonlyMap<string, Omit<Author, 'kind'>>;
  /** The files of the shop's texts, by language. */
  readonly texts?: ReadonlyMap<string, string>;
  /** The files of the pictures, by the last part of `Author.picture`. */
  readonly pictures?: ReadonlyMap<string, string>;
}

/**
 * Who wrote a reply, for the visitor. A reply with a `user_id` is a teammate's, also if an agent
 * takes part; undefined when the platform names nobody.
 */
export function authorOf(
  { agentId, userId }: ReplyAuthor,
  { widget, people }: Pick<ChatShop, 'widget' | 'people'>,
): Author | undefined {
  const named = people?.get((userId ?? agentId ?? '').toLowerCase());
  if (userId !== undefined) return { ...named, kind: 'person' };
  if (agentId === undefined) return undefined;
  const agent = widget?.agent;
  return { ...(named ?? agent), kind: agent?.kind ?? 'ai' };
}

export interface ChatLimitOptions {
  readonly messagesPer10s: number;
  readonly newVisitorsPerHourPerIp: number;
  readonly socketsPerIp: number;
  readonly uploadBytesPerHourPerIp: number;
}

/**
 * Which origins may use the chat. Browsers send the page's origin with every cross-origin request
 * and every WebSocket; it is compared exactly, never by prefix or suffix.
 */
export class Origins {
  readonly #any = new Set<string>();
  #anyWithout = false;

  constructor(shops: readonly ChatShop[]) {
    this.serve(shops);
  }

  /**
   * Replaces the shops. Pages of no shop still reach the handshake, because a browser tells a page
   * nothing about a connection that is refused earlier.
   */
  serve(shops: readonly ChatShop[]): void {
    for (const origin of shops.flatMap((shop) => shop.origins)) this.#any.add(origin);
    this.#anyWithout ||= shops.some((shop) => shop.allowNoOrigin);
  }

  /** Whether any shop accepts this origin; the widget key is known only after the handshake. */
  someAdmits(origin: string | undefined): boolean {
    return origin === undefined ? this.#anyWithout : this.#any.has(origin);
  }

  static admits(shop: ChatShop, origin: string | undefined): boolean {
    return origin === undefined ? shop.allowNoOrigin : shop.origins.includes(origin);
  }
}
