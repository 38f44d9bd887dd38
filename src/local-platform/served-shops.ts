import { type Shop, shopOfKey, type ShopOfKey } from './authenticate.ts';

/** The shops that the platform serves, as they are now. Ids are in lower case. */
export class ServedShops {
  readonly #names = new Map<string, string>();
  #ofKey: ShopOfKey = shopOfKey([]);
  #withoutAgent: ReadonlySet<string> = new Set();

  constructor(shops: readonly Shop[], withoutAgent?: readonly string[]) {
    this.replace(shops, withoutAgent);
  }

  replace(shops: readonly Shop[], withoutAgent: readonly string[] = []): void {
    this.#ofKey = shopOfKey(shops);
    this.#withoutAgent = new Set(withoutAgent.map((id) => id.toLowerCase()));
    // In place, since others hold it. Names of shops that are gone stay: their answers go on.
    for (const { shopId, name } of shops) this.#names.set(shopId.toLowerCase(), name);
  }

  /** By id. */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  readonly ofKey: ShopOfKey = (authorization, shopId) => this.#ofKey(authorization, shopId);

  isWithoutAgent(shop: string): boolean {
    return this.#withoutAgent.has(shop);
  }
}
