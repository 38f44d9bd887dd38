import { Gauge, type Registry } from 'prom-client';
import type { CollectStatus, GatewayStatus } from './status.ts';

/** The sources of the gauges in this file, read at each scrape. */
export interface StatusSources {
  readonly status: CollectStatus;
  /** The number of entries that are not in the search index yet. */
  readonly searchBacklog: () => Promise<number>;
}

interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** @param status undefined while the status is not available */
  readonly write: (gauge: Gauge, status: GatewayStatus | undefined) => void;
}

const disk =
  (of: (disk: GatewayStatus['disk']) => number | undefined): StatusGauge['write'] =>
  (gauge, status) => {
    if (status === undefined) return;
    const bytes = of(status.disk);
    if (bytes === undefined) gauge.remove();
    else gauge.set(bytes);
  };

const STATUS_GAUGES: readonly StatusGauge[] = [
  {
    name: 'sluice_disk_free_bytes',
    help: 'Free space on the disk of the data folder; absent where the file system does not say',
    write: disk(({ freeBytes }) => freeBytes),
  },
  {
    name: 'sluice_disk_size_bytes',
    help: 'Size of the disk of the data folder; absent where the file system does not say',
    write: disk(({ totalBytes }) => totalBytes),
  },
  {
    name: 'sluice_disk_reserve_bytes',
    help: 'Free space below which new messages are refused',
    write: disk(({ reserveBytes }) => reserveBytes),
  },
  {
    name: 'sluice_smtp_certificate_expiry_timestamp_seconds',
    help: 'When the certificate for STARTTLS expires, in seconds since the epoch; absent without SMTP',
    labelNames: ['self_signed'],
    write: (gauge, status) => {
      gauge.reset();
      if (status?.certificate === undefined) return;
      const { endsAt, selfSigned } = status.certificate;
      gauge.set({ self_signed: String(selfSigned) }, endsAt / 1000);
    },
  },
  {
    name: 'sluice_breaker_open',
    help: '1 while deliveries of a shop are stopped',
    labelNames: ['shop', 'part'],
    write: (gauge, status) => {
      if (status === undefined) return;
      gauge.reset();
      for (const { shop, breakers } of status.shops) {
        for (const { part, state } of breakers) {
          gauge.set({ shop, part }, state === 'closed' ? 0 : 1);
        }
      }
    },
  },
  {
    name: 'sluice_waiting_tickets',
    help: 'Tickets of the local platform that wait for a person',
    labelNames: ['shop'],
    write: (gauge, status) => {
      if (status === undefined) return;
      gauge.reset();
      for (const { shop, waiting } of status.waitingTickets) gauge.set({ shop }, waiting);
    },
  },
  {
    name: 'sluice_oldest_waiting_ticket_seconds',
    help: 'How long the first of them has waited; 0 without any',
    labelNames: ['shop'],
    write: (gauge, status) => {
      if (status === undefined) return;
      gauge.reset();
      for (const { shop, oldestAt = status.at } of status.waitingTickets) {
        gauge.set({ shop }, Math.max(0, status.at - oldestAt) / 1000);
      }
    },
  },
  {
    name: 'sluice_last_delivery_timestamp_seconds',
    help: "When a shop's platform last accepted a message, in seconds since the epoch; absent before the first since the start",
    labelNames: ['shop'],
    write: (gauge, status) => {
      gauge.reset();
      for (const { shop, lastDeliveredAt } of status?.shops ?? []) {
        if (lastDeliveredAt !== undefined) gauge.set({ shop }, lastDeliveredAt / 1000);
      }
    },
  },
];

/**
 * Adds gauges that are read at each scrape, from the same status as the overview and alerts. They
 * are empty until their sources are given, and while the status is not available.
 * @returns sets the sources
 */
export function createStatusMetrics(registers: Registry[]): (sources: StatusSources) => void {
  let sources: StatusSources | undefined;
  for (const { write, ...declared } of STATUS_GAUGES) {
    new Gauge({
      ...{ ...declared, registers },
      async collect() {
        // A scrape must not fail because one value is not available.
        write(this, await sources?.status().catch(() => undefined));
      },
    });
  }
  new Gauge({
    name: 'sluice_search_backlog_entries',
    help: "Entries that are not in the console's search index yet",
    registers,
    async collect() {
      const backlog = await sources?.searchBacklog().catch(() => undefined);
      if (backlog !== undefined) this.set(backlog);
    },
  });
  return (given) => {
    sources = given;
  };
}
