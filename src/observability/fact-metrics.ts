import { Gauge, type Registry } from 'prom-client';
import type { CollectFacts, Facts } from './facts.ts';

/** The sources of the gauges in this file, read at each scrape. */
export interface FactSources {
  readonly facts: CollectFacts;
  /** The number of entries that are not in the search index yet. */
  readonly searchBacklog: () => Promise<number>;
}

/**
 * Gauges that are read at each scrape, from the same status as the overview and alerts. They are
 * empty until `readFrom` is called, and while the status is not available.
 */
export function createFactMetrics(registers: Registry[]) {
  let sources: FactSources | undefined;
  const facts = async (): Promise<Facts | undefined> => {
    try {
      return await sources?.facts();
    } catch {
      // A scrape must not fail because one value is not available.
      return undefined;
    }
  };
  const disk = (name: string, help: string, of: (disk: Facts['disk']) => number) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const found = await facts();
        if (found !== undefined) this.set(of(found.disk));
      },
    });
  return {
    readFrom(given: FactSources): void {
      sources = given;
    },
    diskFreeBytes: disk(
      'sluice_disk_free_bytes',
      'Free space on the disk of the data folder',
      ({ freeBytes }) => freeBytes,
    ),
    diskSizeBytes: disk(
      'sluice_disk_size_bytes',
      'Size of the disk of the data folder',
      ({ totalBytes }) => totalBytes,
    ),
    diskReserveBytes: disk(
      'sluice_disk_reserve_bytes',
      'Free space below which new messages are refused',
      ({ reserveBytes }) => reserveBytes,
    ),
    certificateExpiry: new Gauge({
      name: 'sluice_smtp_certificate_expiry_timestamp_seconds',
      help: 'When the certificate for STARTTLS expires, in seconds since the epoch; absent without SMTP',
      labelNames: ['self_signed'] as const,
      registers,
      async collect() {
        const certificate = (await facts())?.certificate;
        this.reset();
        if (certificate === undefined) return;
        const { endsAt, selfSigned } = certificate;
        this.set({ self_signed: String(selfSigned) }, endsAt / 1000);
      },
    }),
    breakerOpen: new Gauge({
      name: 'sluice_breaker_open',
      help: '1 while deliveries of a shop are stopped',
      labelNames: ['shop', 'part'] as const,
      registers,
      async collect() {
        const found = await facts();
        if (found === undefined) return;
        this.reset();
        for (const { shop, breakers } of found.shops) {
          for (const { part, state } of breakers) {
            this.set({ shop, part }, state === 'closed' ? 0 : 1);
          }
        }
      },
    }),
    lastDelivery: new Gauge({
      name: 'sluice_last_delivery_timestamp_seconds',
      help: "When a shop's platform last accepted a message, in seconds since the epoch; absent before the first since the start",
      labelNames: ['shop'] as const,
      registers,
      async collect() {
        const found = await facts();
        this.reset();
        for (const { shop, lastDeliveredAt } of found?.shops ?? []) {
          if (lastDeliveredAt !== undefined) this.set({ shop }, lastDeliveredAt / 1000);
        }
      },
    }),
    searchBacklog: new Gauge({
      name: 'sluice_search_backlog_entries',
      help: "Entries that are not in the console's search index yet",
      registers,
      async collect() {
        const backlog = await sources?.searchBacklog().catch(() => undefined);
        if (backlog !== undefined) this.set(backlog);
      },
    }),
  };
}
