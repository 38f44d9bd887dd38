import { randomUUID } from 'node:crypto';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import type { Db } from './database.ts';

export interface EventRow {
  seq: number;
  id: string;
  shop: string;
  contact_id: string | null;
  name: string;
  description: string | null;
  event_time: string;
  /** The `metric` object as JSON. */
  metric: string | null;
  created_at: string;
}

/** Contacts' timelines and metrics (API §4.1). */
export class EventTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      insert: db.prepare(
        `INSERT INTO events (id, shop, contact_id, name, description, event_time, metric,
           metric_name, deduping_key, created_at)
         VALUES (@id, @shop, @contactId, @name, @description, @eventTime, @metric,
           @metricName, @dedupingKey, @now) ON CONFLICT DO NOTHING`,
      ),
      isCounted: db.prepare<[string, string | null, string | null], { one: number }>(
        `SELECT 1 AS one FROM events WHERE shop = ? AND metric_name = ? AND deduping_key = ?`,
      ),
      byShop: db.prepare<[string], EventRow>(`SELECT * FROM events WHERE shop = ? ORDER BY seq`),
    };
  }

  /**
   * A metric with a known deduping key is not stored again; the activity is stored once per contact.
   * @returns whether anything was stored
   */
  create(shop: string, event: CreateEventRequest, contactId: string | null, now: string): boolean {
    const { metric } = event;
    // The keys of unnamed metrics share one namespace.
    const metricName = metric ? (metric.metric_name ?? '') : null;
    const dedupingKey = metric?.deduping_key ?? null;
    const isCounted = this.#sql.isCounted.get(shop, metricName, dedupingKey) !== undefined;
    if (isCounted && contactId === null) return false;
    return (
      this.#sql.insert.run({
        id: randomUUID(),
        shop,
        contactId,
        name: event.name,
        description: event.description ?? null,
        eventTime: new Date(event.event_time ?? now).toISOString(),
        metric: metric && !isCounted ? JSON.stringify(metric) : null,
        ...{ metricName, dedupingKey, now },
      }).changes === 1
    );
  }

  byShop(shop: string): EventRow[] {
    return this.#sql.byShop.all(shop);
  }
}
