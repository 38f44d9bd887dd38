import type { CollectFacts } from '../../observability/facts.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AlertFile } from './alert-file.ts';
import { type Alert, alertOf, type AlertRecord, inOrder } from './alert.ts';
import { evaluate } from './evaluate.ts';
import { Messenger } from './messenger.ts';
import { forgotten, type NoticeTiming, nextNoticeAt, told } from './pending-notices.ts';
import { readAll, type RuleOptions } from './rules.ts';
import type { Retries, Target } from './target.ts';

const SIGNATURE_WINDOW_MS = 10 * 60_000;
/** Between two looks, however much there is to tell. */
const SHORTEST_PAUSE_MS = 50;

export interface AlertingOptions extends NoticeTiming {
  readonly rules: RuleOptions;
  /** How often the facts are looked at. */
  readonly everyMs: number;
  /** How long all must be well before an alert is over. */
  readonly settleMs: number;
  /** How this gateway names itself. */
  readonly source: string;
  readonly retries?: Retries;
}

export interface AlertingParts {
  readonly facts: CollectFacts;
  readonly file: AlertFile;
  readonly targets: readonly Target[];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Looks at the facts from time to time, keeps what is not well, and tells each target what it does
 * not know yet. What each was told is kept in a file: a restart neither repeats nor forgets.
 */
export class Alerting {
  readonly #options: AlertingOptions;
  readonly #parts: AlertingParts;
  readonly #messengers: readonly Messenger[];
  #records: readonly AlertRecord[] = [];
  #badSignatures: RollingCount | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: AlertingOptions, parts: AlertingParts) {
    this.#options = options;
    this.#parts = parts;
    const { clock, logger, metrics } = parts;
    this.#messengers = parts.targets.map(
      (target) => new Messenger(target, options, { clock, logger, metrics }),
    );
  }

  /** What fires now, the worst first. */
  get current(): readonly Alert[] {
    return inOrder(this.#records.filter(({ phase }) => phase === 'firing').map(alertOf));
  }

  /** Reads what the last process left, and begins to look. */
  async start(): Promise<void> {
    try {
      this.#records = await this.#parts.file.read(this.#parts.clock());
    } catch (error) {
      // What fires is then told once more: better than not at all.
      this.#parts.logger.warn('alerts.state_unreadable', errorFields(error));
    }
    this.#look();
  }

  /** What is on its way gets a moment; what is not told by then is told after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#messengers.map((messenger) => messenger.stop()));
    await this.#keep();
  }

  #look(): void {
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => {
        this.#parts.logger.error('alerts.failed', errorFields(error));
      })
      .then(() => {
        if (this.#stopped) return;
        this.#timer = setTimeout(() => this.#look(), this.#pause());
        this.#timer.unref();
      });
  }

  async #lookOnce(): Promise<void> {
    const { facts: collect, clock, metrics } = this.#parts;
    const { rules, settleMs } = this.#options;
    const facts = await collect();
    this.#badSignatures ??= new RollingCount(SIGNATURE_WINDOW_MS, facts.startedAt);
    const recent = {
      badSignatures: this.#badSignatures.add(facts.at, facts.badSignatures),
      isWhole: this.#badSignatures.isWhole(facts.at),
    };
    const readings = readAll(facts, recent, rules);
    this.#change(evaluate(this.#records, readings, clock(), settleMs));
    metrics.alertsFiring.reset();
    for (const { rule, severity } of this.current) metrics.alertsFiring.inc({ rule, severity });
    await this.#keep();
    for (const messenger of this.#messengers) this.#tell(messenger);
  }

  #tell(messenger: Messenger): void {
    messenger.tell(this.#records, (pending, at) => {
      this.#change(told(messenger.name, pending, this.#records, at));
      return this.#keep();
    });
  }

  #change(records: readonly AlertRecord[]): void {
    const before = new Map(this.#records.map((record) => [record.key, record.phase]));
    for (const { key, phase, rule, shop, severity } of records) {
      if (phase === 'pending' || before.get(key) === phase) continue;
      const event = phase === 'firing' ? 'alert.firing' : 'alert.resolved';
      this.#parts.logger.warn(event, { rule, severity, ...(shop !== undefined && { shop }) });
    }
    const names = this.#messengers.map(({ name }) => name);
    this.#records = forgotten(records, names);
  }

  /** A disk that takes no file must not keep alerts from leaving. */
  async #keep(): Promise<void> {
    try {
      await this.#parts.file.write(this.#records);
    } catch (error) {
      this.#parts.logger.warn('alerts.state_not_written', errorFields(error));
    }
  }

  /** Until the next look, or until something that waits for company may leave. */
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

/** How much a counter that only rises has risen of late. */
export class RollingCount {
  readonly #windowMs: number;
  #startedAt: number;
  #looked = false;
  #samples: { readonly at: number; readonly value: number }[] = [];

  /** `startedAt`: when the counter was zero. */
  constructor(windowMs: number, startedAt: number) {
    this.#windowMs = windowMs;
    this.#startedAt = startedAt;
    this.#samples = [{ at: startedAt, value: 0 }];
  }

  /** The rise within the window that ends now. */
  add(at: number, value: number): number {
    if (!this.#looked && this.isWhole(at)) {
      // It rose before anybody looked: nobody knows when.
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

  /** The whole window was looked at. */
  isWhole(at: number): boolean {
    return at - this.#startedAt >= this.#windowMs;
  }
}
