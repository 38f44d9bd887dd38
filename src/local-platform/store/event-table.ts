import { randomUUID } from 'node:crypto';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import { type Db, statements } from './database.ts';

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
export function eventTable(db: Db) {
  const { rows, has, run } = statements(db);
  const insert = run<[object]>(
    `INSERT INTO events (id, shop, contact_id, name, description, event_time, metric,
       metric_name, deduping_key, created_at)
     VALUES (@id, @shop, @contactId, @name, @description, @eventTime, @metric,
       @metricName, @dedupingKey, @now) ON CONFLICT DO NOTHING`,
  );
  const isKnown = has<[shop: string, metricName: string | null, dedupingKey: string | null]>(
    `SELECT 1 FROM events WHERE shop = ? AND metric_name = ? AND deduping_key = ?`,
  );
  return {
    /**
     * A metric with a known deduping key is not stored again; the activity is stored once per contact.
     * @returns whether anything was stored
     */
    create(
      shop: string,
      event: CreateEventRequest,
      contactId: string | null,
      now: string,
    ): boolean {
      const { metric } = event;
      // The keys of unnamed metrics share one namespace.
      const metricName = metric ? (metric.metric_name ?? '') : null;
      const dedupingKey = metric?.deduping_key ?? null;
      const isCounted = isKnown(shop, metricName, dedupingKey);
      if (isCounted && contactId === null) return false;
      const values = {
        ...{ id: randomUUID(), shop, contactId, metricName, dedupingKey, now },
        name: event.name,
        description: event.description ?? null,
        eventTime: new Date(event.event_time ?? now).toISOString(),
        metric: metric && !isCounted ? JSON.stringify(metric) : null,
      };
      return insert(values) === 1;
    },
    byShop: rows<[shop: string], EventRow>(`SELECT * FROM events WHERE shop = ? ORDER BY seq`),
  };
}
