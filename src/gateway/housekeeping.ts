import type { CompleteConfig } from '../config/complete.ts';
import type { Backlog } from '../intake/intake.ts';
import { forgetShops, type Metrics } from '../observability/metrics.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Leases } from '../runtime/leases.ts';
import type { Retention, Spool } from '../spool/spool.ts';

const COUNT_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** A sweep that takes longer may run twice at the same time, which is only slower. */
const LEASE_MS = SWEEP_EVERY_MS;
const WARN_BEFORE_MS = 7 * 24 * 60 * 60 * 1000;

/** How long what is stored is kept, in milliseconds. */
export const retentionOf = ({ spool: { retain } }: Pick<CompleteConfig, 'spool'>): Retention => ({
  rawMs: retain.raw,
  deadMs: retain.dead,
  entriesMs: retain.entries,
});

export interface HousekeepingParts {
  readonly spool: Spool;
  readonly leases: Leases;
  readonly backlog: Backlog;
  /** Recomputes list summaries that an earlier version of its channel has made; resolves with their number. */
  readonly renewSummaries: (signal: AbortSignal) => Promise<number>;
  readonly retention: () => Retention;
  /** The configured names by shop id. */
  readonly shopNames: () => ReadonlyMap<string, string>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Periodic work: updating the gauges and sweeping expired data. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timers = [
      setInterval(() => this.#later('count', () => this.#count()), COUNT_EVERY_MS),
      setInterval(() => this.#later('sweep', () => this.#sweep()), SWEEP_EVERY_MS),
    ];
    this.#later('count', () => this.#count());
    this.#later('sweep', () => this.#sweep());
    this.#later('summaries', () => this.#renewSummaries());
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopping.abort();
    await Promise.all(this.#running.values());
  }

  /**
   * Runs work of the same kind one after the other; a long sweep does not delay counting. A failure
   * is logged, and the next run tries again.
   */
  #later(what: string, work: () => Promise<void>): void {
    const before = this.#running.get(what) ?? Promise.resolve();
    const running = before.then(work).catch((error: unknown) => {
      this.#parts.logger.error('housekeeping.failed', { what, ...errorFields(error) });
    });
    this.#running.set(what, running);
  }

  async #count(): Promise<void> {
    const { spool, backlog, metrics, clock, logger } = this.#parts;
    backlog.counted(await spool.backlogBytes());
    const counts = await spool.counts();
    const [retention, shopNames] = [this.#parts.retention(), this.#parts.shopNames()];
    await forgetShops(metrics, new Set(shopNames.values()));
    metrics.entries.reset();
    metrics.oldestQueuedSeconds.reset();
    for (const { shopId, channel, state, count, oldestAt } of counts) {
      const shop = shopNames.get(shopId) ?? 'not configured';
      metrics.entries.set({ shop, channel, state }, count);
      const age = clock() - oldestAt;
      if (state === 'queued')
        metrics.oldestQueuedSeconds.set({ shop, channel }, Math.max(0, age / 1000));
      if (state === 'dead' && age > retention.deadMs - WARN_BEFORE_MS) {
        metrics.alarms.inc({ alarm: 'dead_entries_expire' });
        logger.warn('spool.dead_entries_expire', { shop, channel, count });
      }
    }
  }

  async #renewSummaries(): Promise<void> {
    const { renewSummaries, logger } = this.#parts;
    const entries = await renewSummaries(this.#stopping.signal);
    if (entries > 0) logger.info('spool.summaries_renewed', { entries });
  }

  async #sweep(): Promise<void> {
    const { spool, leases, retention, logger } = this.#parts;
    if (!(await leases.take('sweep', LEASE_MS))) return;
    try {
      const swept = await spool.sweep(retention());
      if (swept.entries + swept.raws + swept.files > 0) logger.info('spool.swept', { ...swept });
    } finally {
      await leases.release('sweep');
    }
  }
}
