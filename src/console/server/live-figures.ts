import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { type Clock, everyInStep } from '../../runtime/clock.ts';
import { type Channel, CHANNELS } from '../../domain/channel.ts';
import type { History, HistoryPoint, HistoryRange, Overview } from '../contract.ts';

const STEP_MS = 10_000;
const POINTS = 360;
/** The points of the last day combine this many. */
const STEPS_OF_DAY = 12;
const POINTS_OF_DAY = 720;
/** `Overview.latency` covers the last 15 minutes. */
const LATENCY_STEPS = 90;
const SAMPLE_EVERY_MS = 2000;
const MINUTE_MS = 60_000;

type PerChannel = Readonly<Record<Channel, number>>;

interface Totals {
  readonly at: number;
  readonly accepted: PerChannel;
  readonly delivered: PerChannel;
  readonly refused: PerChannel;
}

interface LiveFiguresParts {
  readonly metrics: Pick<Metrics, 'accepted' | 'refused'>;
  readonly clock: Clock;
  /** The number of queued entries. */
  readonly queued: () => Promise<number>;
  readonly logger: Logger;
}

/**
 * Rates of the last minute, delivery times of the last 15 minutes, and the history of the last
 * hour and the last day.
 */
export class LiveFigures {
  readonly #parts: LiveFiguresParts;
  /** Totals during the last minute, the oldest first. */
  #samples: Totals[] = [];
  readonly #points: HistoryPoint[] = [];
  readonly #day: HistoryPoint[] = [];
  /** Of the next point of the day. */
  #steps: HistoryPoint[] = [];
  #lastPoint: Totals | undefined;
  #currentStep = createLatencies();
  /** Delivery times of the last completed steps. */
  readonly #latencies: RecordableHistogram[] = [];
  /** Since the start. */
  readonly #delivered = { email: 0, sms: 0, web_chat: 0 };
  #endSamples = (): void => undefined;
  #sampling: Promise<void> = Promise.resolve();

  constructor(parts: LiveFiguresParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const first = await this.#totals();
    this.#samples = [first];
    this.#lastPoint = first;
    this.#endSamples = everyInStep(SAMPLE_EVERY_MS, () => {
      this.#sampling = this.#sampling
        .then(() => this.#sample())
        .catch((error: unknown) => this.#parts.logger.warn('console.failed', errorFields(error)));
    });
  }

  async stop(): Promise<void> {
    this.#endSamples();
    await this.#sampling;
  }

  /** Called for every delivered message; must be cheap. */
  delivered(channel: Channel, latencyMs: number): void {
    this.#delivered[channel] += 1;
    this.#currentStep.record(Math.max(1, Math.round(latencyMs)));
  }

  /** Counts of the last minute by channel, and the total accepted since the start. */
  async rates(): Promise<
    Readonly<Record<'accepted' | 'delivered' | 'refused' | 'acceptedTotal', PerChannel>>
  > {
    const now = await this.#totals();
    const first = this.#samples[0] ?? now;
    return {
      accepted: difference(now.accepted, first.accepted),
      delivered: difference(now.delivered, first.delivered),
      refused: difference(now.refused, first.refused),
      acceptedTotal: now.accepted,
    };
  }

  latency(): Quantiles | undefined {
    const all = createLatencies();
    for (const each of [...this.#latencies, this.#currentStep]) all.add(each);
    return quantilesOf(all);
  }

  history(range: HistoryRange): History {
    return range === 'hour'
      ? { stepMs: STEP_MS, points: [...this.#points] }
      : { stepMs: STEP_MS * STEPS_OF_DAY, points: [...this.#day] };
  }

  async #sample(): Promise<void> {
    const now = await this.#totals();
    this.#samples = [...this.#samples.filter(({ at }) => now.at - at <= MINUTE_MS), now];
    const last = this.#lastPoint ?? now;
    // Tolerates timers that fire slightly early or late.
    if (now.at - last.at < STEP_MS - SAMPLE_EVERY_MS / 2) return;
    const queued = await this.#parts.queued();
    this.#lastPoint = now;
    const quantiles = quantilesOf(this.#currentStep);
    keepLast(this.#latencies, this.#currentStep, LATENCY_STEPS - 1);
    this.#currentStep = createLatencies();
    const point: HistoryPoint = {
      at: now.at,
      accepted: difference(now.accepted, last.accepted),
      delivered: difference(now.delivered, last.delivered),
      queued,
      ...(quantiles && { p50: quantiles.p50, p95: quantiles.p95 }),
    };
    keepLast(this.#points, point, POINTS);
    this.#addToDay(point);
  }

  #addToDay(point: HistoryPoint): void {
    this.#steps.push(point);
    if (this.#steps.length < STEPS_OF_DAY) return;
    const latencies = createLatencies();
    for (const each of this.#latencies.slice(-STEPS_OF_DAY)) latencies.add(each);
    const combined = combinedPoint(this.#steps, quantilesOf(latencies));
    this.#steps = [];
    keepLast(this.#day, combined, POINTS_OF_DAY);
  }

  async #totals(): Promise<Totals> {
    const { metrics, clock } = this.#parts;
    const [accepted, refused] = await Promise.all([metrics.accepted.get(), metrics.refused.get()]);
    return {
      at: clock(),
      accepted: perChannel(accepted.values, ({ duplicate }) => duplicate === 'false'),
      delivered: { ...this.#delivered },
      refused: perChannel(refused.values, () => true),
    };
  }
}

type Labels = Readonly<Record<string, string | number | undefined>>;

function perChannel(
  values: readonly { readonly labels: Labels; readonly value: number }[],
  counts: (labels: Labels) => boolean,
): PerChannel {
  const sums = { email: 0, sms: 0, web_chat: 0 };
  for (const { labels, value } of values) {
    const channel = CHANNELS.find((each) => each === labels['channel']);
    if (channel !== undefined && counts(labels)) sums[channel] += value;
  }
  return sums;
}

const difference = (now: PerChannel, before: PerChannel): PerChannel => ({
  email: now.email - before.email,
  sms: now.sms - before.sms,
  web_chat: now.web_chat - before.web_chat,
});

/** One point for several steps in a row. The longest queue counts, so that a short peak is seen. */
export const combinedPoint = (
  steps: readonly HistoryPoint[],
  quantiles: Pick<Quantiles, 'p50' | 'p95'> | undefined,
): HistoryPoint => ({
  ...{ at: steps.at(-1)?.at ?? 0, queued: Math.max(0, ...steps.map(({ queued }) => queued)) },
  accepted: sumOf(steps.map(({ accepted }) => accepted)),
  delivered: sumOf(steps.map(({ delivered }) => delivered)),
  ...(quantiles && { p50: quantiles.p50, p95: quantiles.p95 }),
});

function sumOf(all: readonly PerChannel[]): PerChannel {
  const of = (channel: Channel) => all.reduce((sum, each) => sum + each[channel], 0);
  return { email: of('email'), sms: of('sms'), web_chat: of('web_chat') };
}

function keepLast<Item>(items: Item[], item: Item, most: number): void {
  items.push(item);
  if (items.length > most) items.splice(0, items.length - most);
}

type Quantiles = NonNullable<Overview['latency']>;

/** With a precision of 10 %. Its values are whole numbers from 1. */
const createLatencies = () => createHistogram({ figures: 1 });

/** In milliseconds; undefined without durations. */
function quantilesOf(latencies: RecordableHistogram): Quantiles | undefined {
  const { count } = latencies;
  if (count === 0) return undefined;
  // The histogram rounds a rank to the nearest one; rounded up, one slow delivery of twelve counts.
  const at = (share: number) =>
    latencies.percentile(Math.min(100, (Math.ceil(share * count) / count) * 100));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), count };
}
