import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

export type CountSpans = (outcome: 'sent' | 'failed', spans: number) => void;

/** An exporter whose spans are counted by what became of them. */
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
