import type { CollectStatus } from '../../observability/status.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Leases } from '../../runtime/leases.ts';
import type { AlertFile } from './alert-file.ts';
import { type Alert, alertOf, type AlertRecord, inOrder } from './alert.ts';
import { evaluate } from './evaluate.ts';
import type { IncidentLog } from './incident-log.ts';
import { Messenger } from './messenger.ts';
import {
  markSent,
  type NoticeTiming,
  nextNoticeAt,
  pendingFor,
  withoutEnded,
} from './pending-notices.ts';
import { readAll, type RuleOptions, RULES_OF_STORE } from './rules.ts';
import type { Retries, Target } from './target.ts';

const SIGNATURE_WINDOW_MS = 10 * 60_000;
/** The minimum time between two evaluations. */
const SHORTEST_PAUSE_MS = 50;
/** Of several gateways with one store, its holder sends the alerts about the store. */
const LEASE = 'alerts';
const SHORTEST_LEASE_MS = 60_000;

export interface AlertingOptions extends NoticeTiming {
  readonly rules: RuleOptions;
  /** The interval of evaluations. */
  readonly everyMs: number;
  /** How long a condition must be gone before its alert is resolved. */
  readonly settleMs: number;
  /** The name of this gateway in notices. */
  readonly source: string;
  readonly retries?: Retries;
}

export interface AlertingParts {
  readonly status: CollectStatus;
  readonly file: AlertFile;
  /** Told which alerts fire, whenever that may have changed. */
  readonly incidents: Pick<IncidentLog, 'firing'>;
  readonly leases: Leases;
  readonly targets: readonly Target[];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Evaluates the rules periodically, keeps the state of alerts, and sends each target the changes it
 * has not received. What each target received is stored, so that a restart neither repeats nor
 * loses a notice.
 */
export class Alerting {
  readonly #options: AlertingOptions;
  readonly #parts: AlertingParts;
  readonly #messengers: readonly Messenger[];
  #records: readonly AlertRecord[] = [];
  #badSignatures: RollingCount | undefined;
  #timer: NodeJS.Timeout | undefined;
  #evaluating: Promise<void> = Promise.resolve();
  #stopped = false;
  #sendsOfStore = false;

  constructor(options: AlertingOptions, parts: AlertingParts) {
    this.#options = options;
    this.#parts = parts;
    const { clock, logger, metrics } = parts;
    this.#messengers = parts.targets.map(
      (target) => new Messenger(target, options, { clock, logger, metrics }),
    );
  }

  /** The firing alerts, the most severe first. */
  get current(): readonly Alert[] {
    return inOrder(this.#records.filter(({ phase }) => phase === 'firing').map(alertOf));
  }

  /** Loads the stored alerts and starts evaluating. */
  async start(): Promise<void> {
    try {
      this.#records = await this.#parts.file.read(this.#parts.clock());
    } catch (error) {
      // Firing alerts are then sent again.
      this.#parts.logger.warn('alerts.state_unreadable', errorFields(error));
    }
    this.#evaluate();
  }

  /** Waits briefly for running requests; other notices are sent after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#evaluating;
    await Promise.all(this.#messengers.map((messenger) => messenger.stop()));
    await this.#store();
    if (this.#sendsOfStore) await this.#parts.leases.release(LEASE).catch(() => undefined);
  }

  #evaluate(): void {
    this.#evaluating = this.#evaluateOnce()
      .catch((error: unknown) => {
        this.#parts.logger.error('alerts.failed', errorFields(error));
      })
      .then(() => {
        if (this.#stopped) return;
        this.#timer = setTimeout(() => this.#evaluate(), this.#pause());
        this.#timer.unref();
      });
  }

  async #evaluateOnce(): Promise<void> {
    const { status: collect, clock, metrics } = this.#parts;
    const { rules, settleMs } = this.#options;
    const status = await collect();
    this.#badSignatures ??= new RollingCount(SIGNATURE_WINDOW_MS, status.startedAt);
    const recent = {
      badSignatures: this.#badSignatures.add(status.at, status.badSignatures),
      isWhole: this.#badSignatures.isWhole(status.at),
    };
    const readings = readAll(status, recent, rules);
    this.#change(evaluate(this.#records, readings, clock(), settleMs));
    metrics.alertsFiring.reset();
    for (const { rule, severity } of this.current) metrics.alertsFiring.inc({ rule, severity });
    await this.#store();
    this.#sendsOfStore = await this.#takeLease();
    for (const messenger of this.#messengers) this.#notify(messenger);
  }

  /** Without the store, every gateway sends everything. */
  async #takeLease(): Promise<boolean> {
    try {
      const ttlMs = Math.max(SHORTEST_LEASE_MS, 3 * this.#options.everyMs);
      return await this.#parts.leases.take(LEASE, ttlMs);
    } catch {
      return true;
    }
  }

  #notify(messenger: Messenger): void {
    if (!this.#sendsOfStore) this.#passOver(messenger);
    const due = this.#records.filter(({ rule }) => this.#sendsOfStore || !RULES_OF_STORE.has(rule));
    messenger.sendDue(due, (pending, at) => {
      this.#change(markSent(messenger.name, pending, this.#records, at));
      return this.#store();
    });
  }

  /**
   * Counts what another gateway sends as sent. If this gateway takes over, it goes on from there; a
   * notice that the other one could not send is sent as a reminder.
   */
  #passOver({ name }: Messenger): void {
    const now = this.#parts.clock();
    const ofStore = this.#records.filter(({ rule }) => RULES_OF_STORE.has(rule));
    const pending = pendingFor(name, ofStore, now, this.#options);
    if (pending !== undefined) this.#change(markSent(name, pending, this.#records, now));
  }

  #change(records: readonly AlertRecord[]): void {
    const before = new Map(this.#records.map((record) => [record.key, record.phase]));
    for (const { key, phase, rule, shop, severity } of records) {
      if (phase === 'pending' || before.get(key) === phase) continue;
      const event = phase === 'firing' ? 'alert.firing' : 'alert.resolved';
      this.#parts.logger.warn(event, { rule, severity, ...(shop !== undefined && { shop }) });
    }
    const names = this.#messengers.map(({ name }) => name);
    this.#records = withoutEnded(records, names);
    this.#parts.incidents.firing(this.#records);
  }

  /** A failed write must not prevent notices. */
  async #store(): Promise<void> {
    try {
      await this.#parts.file.write(this.#records);
    } catch (error) {
      this.#parts.logger.warn('alerts.state_not_written', errorFields(error));
    }
  }

  /** The time until the next evaluation or the next grouped notice. */
  #pause(): number {
    const { everyMs, groupMs } = this.#options;
    const now = this.#parts.clock();
    const due = this.#messengers
      .filter((messenger) => messenger.isFree)
      .map(({ name }) => nextNoticeAt(name, this.#records, groupMs))
      .filter((at) => at !== undefined)
      .map((at) => at - now);
    return Math.max(SHORTEST_PAUSE_MS, Math.min(everyMs, ...due));
  }
}

/** The increase of a counter during a window. */
export class RollingCount {
  readonly #windowMs: number;
  #startedAt: number;
  #looked = false;
  #samples: { readonly at: number; readonly value: number }[] = [];

  /** @param startedAt when the counter was zero */
  constructor(windowMs: number, startedAt: number) {
    this.#windowMs = windowMs;
    this.#startedAt = startedAt;
    this.#samples = [{ at: startedAt, value: 0 }];
  }

  /** The increase within the window that ends now. */
  add(at: number, value: number): number {
    if (!this.#looked && this.isWhole(at)) {
      // The time of the increase before the first sample is unknown.
      this.#startedAt = at;
      this.#samples = [];
    }
    this.#looked = true;
    this.#samples.push({ at, value });
    const begin = at - this.#windowMs;
    // The last sample before the window is its starting point.
    const first = this.#samples.findLastIndex((sample) => sample.at <= begin);
    if (first > 0) this.#samples = this.#samples.slice(first);
    return value - (this.#samples[0]?.value ?? 0);
  }

  /** Whether samples cover the whole window. */
  isWhole(at: number): boolean {
    return at - this.#startedAt >= this.#windowMs;
  }
}
