import { hostname } from 'node:os';
import type { DatabaseStatus, FleetStatus, InstanceReport } from '../observability/status.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Fleet } from '../spool/fleet.ts';
import { version } from './version.ts';

const REPORT_EVERY_MS = 10_000;
/** The database and the blobs are looked at with every third report. */
const REPORTS_PER_CHECK = 3;

export interface FleetWatchParts {
  readonly fleet: Fleet;
  readonly figures: () => Promise<Omit<InstanceReport, 'host' | 'version' | 'uptimeMs'>>;
  readonly logger: Logger;
}

/** Reports this gateway to the others, and keeps what is known of them and of what they share. */
export class FleetWatch {
  readonly #parts: FleetWatchParts;
  readonly #host = hostname();
  #latest: FleetStatus | undefined;
  #shared: Pick<FleetStatus, 'database' | 'blobs'> | undefined;
  #rounds = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: FleetWatchParts) {
    this.#parts = parts;
  }

  /** Undefined until the first report. */
  get latest(): FleetStatus | undefined {
    return this.#latest;
  }

  start(): void {
    this.#running = this.#round().then(() => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => this.start(), REPORT_EVERY_MS);
      this.#timer.unref();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    // Without the database the others see that this one is not seen any more.
    await this.#parts.fleet.leave().catch(() => undefined);
  }

  async #round(): Promise<void> {
    const { fleet, figures, logger } = this.#parts;
    if (this.#rounds % REPORTS_PER_CHECK === 0) this.#shared = await look(fleet);
    this.#rounds += 1;
    try {
      const instances = await fleet.report({
        ...{ host: this.#host, version: version(), ...(await figures()) },
        uptimeMs: Math.round(process.uptime() * 1000),
      });
      this.#latest = { blobs: 'reachable', ...this.#shared, instances };
    } catch (error) {
      this.#latest = {
        blobs: 'reachable',
        ...this.#shared,
        instances: this.#latest?.instances ?? [],
      };
      logger.debug('fleet.not_reported', errorFields(error));
    }
  }
}

async function look(fleet: Fleet): Promise<Pick<FleetStatus, 'database' | 'blobs'>> {
  const [database, blobs] = await Promise.all([
    fleet.inspectDatabase().catch((): DatabaseStatus | undefined => undefined),
    fleet.checkBlobs().then(
      () => 'reachable' as const,
      () => 'unreachable' as const,
    ),
  ]);
  return { ...(database && { database }), blobs };
}
