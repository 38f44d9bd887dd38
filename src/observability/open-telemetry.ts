import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import {
  ATTR_ERROR_TYPE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import type { AttemptPart, AttemptTrace, TracedEntry, Tracing } from './tracing.ts';

export interface TracingOptions {
  /** The URL of an OTLP/HTTP collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
  readonly version: string;
  /** How long spans are batched. */
  readonly everyMs?: number;
}

/** The maximum number of waiting spans, of one or two kilobytes each; further spans are dropped. */
const MAX_WAITING = 4096;
const MAX_BATCH = 512;
const EVERY_MS = 2000;
const EXPORT_TIMEOUT_MS = 10_000;
const STOP_WITHIN_MS = 3000;

const CLIENTS: ReadonlySet<AttemptPart> = new Set(['upload', 'conversation', 'submit']);

/**
 * Writes traces with OpenTelemetry's SDK, which is loaded with this module: import it only when
 * tracing is on. It sets nothing globally.
 */
export function openTracing(
  options: TracingOptions,
  { clock, count }: { readonly clock: () => number; readonly count: CountSpans },
): Tracing {
  const generator = new PresetIds();
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint}/v1/traces`,
    headers: { ...options.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor(countedExporter(exporter, count), {
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: MAX_BATCH,
    scheduledDelayMillis: options.everyMs ?? EVERY_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: options.serviceName,
      [ATTR_SERVICE_VERSION]: options.version,
    }),
    // Sampling is decided earlier, for whole traces, by the entry's id.
    sampler: new AlwaysOnSampler(),
    idGenerator: generator,
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('sluice', options.version);
  const isTraced = (id: string): boolean => isSampled(id, options.sampleRatio);

  return {
    accepted({ id, shopId, channel }) {
      if (!isTraced(id)) return;
      const now = clock();
      const ids = { traceId: traceIdOf(id), spanId: intakeSpanIdOf(id) };
      const intake = generator.with(ids, () =>
        tracer.startSpan('intake', {
          root: true,
          kind: SpanKind.SERVER,
          startTime: Math.min(madeAt(id) ?? now, now),
          attributes: { 'sluice.entry': id, 'sluice.channel': channel, 'sluice.shop_id': shopId },
        }),
      );
      intake.end(now);
    },
    attempt: (entry) => (isTraced(entry.id) ? new RunningAttempt(tracer, clock, entry) : undefined),
    async stop() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_WITHIN_MS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

/** Random ids, except for a span whose ids are given. */
class PresetIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #given: { readonly traceId: string; readonly spanId: string } | undefined;

  with<T>(ids: { readonly traceId: string; readonly spanId: string }, start: () => T): T {
    this.#given = ids;
    try {
      return start();
    } finally {
      this.#given = undefined;
    }
  }

  generateTraceId(): string {
    return this.#given?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#given?.spanId ?? this.#random.generateSpanId();
  }
}

class RunningAttempt implements AttemptTrace {
  readonly #tracer: Tracer;
  readonly #clock: () => number;
  readonly #span: Span;
  readonly #context: Context;

  constructor(tracer: Tracer, clock: () => number, entry: TracedEntry) {
    this.#tracer = tracer;
    this.#clock = clock;
    const intake = trace.setSpanContext(ROOT_CONTEXT, {
      traceId: traceIdOf(entry.id),
      spanId: intakeSpanIdOf(entry.id),
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    });
    const attributes: Attributes = {
      'sluice.entry': entry.id,
      'sluice.channel': entry.channel,
      'sluice.shop': entry.shop,
      'sluice.shop_id': entry.shopId,
      'sluice.kind': entry.kind,
      'sluice.claim': entry.claim,
    };
    this.#span = tracer.startSpan(
      'attempt',
      { kind: SpanKind.CONSUMER, startTime: clock(), attributes },
      intake,
    );
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  async timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T> {
    const kind = CLIENTS.has(part) ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#tracer.startSpan(part, { kind, startTime: this.#clock() }, this.#context);
    try {
      return await work();
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end(this.#clock());
    }
  }

  end(state: string): void {
    this.#span.setAttribute('sluice.state', state);
    if (state === 'queued' || state === 'dead')
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end(this.#clock());
  }
}

/** Records the error's kind and the platform's status; error messages may contain anything. */
function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (!(error instanceof Error)) return;
  span.setAttribute(ATTR_ERROR_TYPE, error.name);
  for (const each of [error, error.cause]) {
    if (each instanceof Error && 'status' in each && typeof each.status === 'number') {
      span.setAttribute('http.response.status_code', each.status);
      return;
    }
  }
}

export type CountSpans = (outcome: 'sent' | 'failed', spans: number) => void;

/** An exporter that counts spans by outcome. */
export function countedExporter(exporter: SpanExporter, count: CountSpans): SpanExporter {
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        count(result.error === undefined ? 'sent' : 'failed', spans.length);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/**
 * The trace id of an entry is its id without the dashes: a UUID has the length of a trace id (W3C
 * Trace Context §3.2.2.3), every process derives the same one, and operators can use either form.
 */
export function traceIdOf(entryId: string): string {
  const id = entryId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : hashed(entryId, 32);
}

/** The span of the intake, the parent of all attempts in any process. */
export const intakeSpanIdOf = (entryId: string): string => hashed(`intake/${entryId}`, 16);

/**
 * Whether an entry is traced. A ratio of 0.1 selects the same tenth of all entries in every
 * process.
 */
export function isSampled(entryId: string, ratio: number): boolean {
  if (ratio >= 1) return true;
  return parseInt(hashed(`sample/${entryId}`, 8), 16) / 2 ** 32 < ratio;
}

/** When a version 7 UUID was generated (RFC 9562 §5.7), in milliseconds since the epoch. */
export function madeAt(entryId: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(entryId) ?? [];
  return high === undefined || low === undefined ? undefined : parseInt(high + low, 16);
}

const hashed = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
