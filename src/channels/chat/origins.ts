import type { ChatShop } from './chat-shop.ts';

/**
 * Who may speak to the chat. Browsers tell the page's origin on every cross-origin request and on
 * every WebSocket; it is compared as a whole, never by prefix or suffix.
 */
export class Origins {
  readonly #any: ReadonlySet<string>;
  readonly #anyWithout: boolean;

  constructor(shops: readonly ChatShop[]) {
    this.#any = new Set(shops.flatMap((shop) => shop.origins));
    this.#anyWithout = shops.some((shop) => shop.allowNoOrigin);
  }

  /** Whether some shop lets this origin in. The widget key is known only after the handshake. */
  someAdmits(origin: string | undefined): boolean {
    return origin === undefined ? this.#anyWithout : this.#any.has(origin);
  }

  static admits(shop: ChatShop, origin: string | undefined): boolean {
    return origin === undefined ? shop.allowNoOrigin : shop.origins.includes(origin);
  }
}
