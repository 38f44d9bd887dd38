import type { ShopId } from '../../domain/ids.ts';
import type { WidgetConfig } from './widget-config.ts';

/** What the chat channel knows of one shop. */
export interface ChatShop {
  readonly shopId: ShopId;
  /** The widget key: public, in the shop's page. */
  readonly key: string;
  /** Exact origins, as a browser sends them: scheme, host and port. */
  readonly origins: readonly string[];
  /** Lets in clients that send no Origin header: programs, never browsers. */
  readonly allowNoOrigin: boolean;
  /** Secrets of identity JWTs; several while one is being replaced. */
  readonly identitySecrets: readonly string[];
  readonly limits: ChatLimitOptions;
  /** How the widget looks on this shop's pages; its own way when absent. */
  readonly widget?: WidgetConfig;
}

export interface ChatLimitOptions {
  readonly messagesPer10s: number;
  readonly newVisitorsPerHourPerIp: number;
  readonly socketsPerIp: number;
  readonly uploadBytesPerHourPerIp: number;
}

/**
 * Who may speak to the chat. Browsers tell the page's origin on every cross-origin request and on
 * every WebSocket; it is compared as a whole, never by prefix or suffix.
 */
export class Origins {
  readonly #any = new Set<string>();
  #anyWithout = false;

  constructor(shops: readonly ChatShop[]) {
    this.serve(shops);
  }

  /**
   * The shops from now on. Pages that are no shop's any more still get as far as the handshake: a
   * browser tells a page nothing about a connection that is refused before.
   */
  serve(shops: readonly ChatShop[]): void {
    for (const origin of shops.flatMap((shop) => shop.origins)) this.#any.add(origin);
    this.#anyWithout ||= shops.some((shop) => shop.allowNoOrigin);
  }

  /** Whether some shop lets this origin in. The widget key is known only after the handshake. */
  someAdmits(origin: string | undefined): boolean {
    return origin === undefined ? this.#anyWithout : this.#any.has(origin);
  }

  static admits(shop: ChatShop, origin: string | undefined): boolean {
    return origin === undefined ? shop.allowNoOrigin : shop.origins.includes(origin);
  }
}
