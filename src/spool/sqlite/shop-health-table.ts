import type { ShopId } from '../../domain/ids.ts';
import type { EntryMeta } from '../entry.ts';
import type { Db } from './database.ts';

/** How the gateway finds its shops, for commands beside it; and what these ask of it. */
export class ShopHealthTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      save: db.prepare(`INSERT OR REPLACE INTO shop_health (shop, health) VALUES (?, ?)`),
      of: db.prepare<[string], { health: string }>(`SELECT health FROM shop_health WHERE shop = ?`),
      request: db.prepare(`INSERT OR IGNORE INTO probe_requests (shop) VALUES (?)`),
      requests: db.prepare<[], { shop: ShopId }>(`SELECT shop FROM probe_requests ORDER BY shop`),
      taken: db.prepare(`DELETE FROM probe_requests`),
    };
  }

  save(shopId: ShopId, health: EntryMeta): void {
    this.#sql.save.run(shopId, JSON.stringify(health));
  }

  of(shopId: ShopId): EntryMeta | undefined {
    const row = this.#sql.of.get(shopId);
    // Written by `save`.
    return row === undefined ? undefined : (JSON.parse(row.health) as EntryMeta);
  }

  requestProbe(shopId: ShopId): void {
    this.#sql.request.run(shopId);
  }

  takeProbeRequests(): ShopId[] {
    const shops = this.#sql.requests.all().map(({ shop }) => shop);
    if (shops.length > 0) this.#sql.taken.run();
    return shops;
  }
}
