import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ends } from '../support/ends.ts';

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) =>
    Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])),
  );

/** What of OTLP's JSON form (opentelemetry-proto, trace.proto) tests look at. */
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z
                .string()
                .optional()
                .transform((id) => (id === '' ? undefined : id)),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: z.coerce.bigint(),
              endTimeUnixNano: z.coerce.bigint(),
              attributes,
              status: z.object({ code: z.number().default(0) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

export type SeenSpan = z.output<
  typeof request
>['resourceSpans'][number]['scopeSpans'][number]['spans'][number];

export interface Collector {
  readonly url: string;
  readonly spans: SeenSpan[];
  readonly resources: Record<string, unknown>[];
  readonly headers: IncomingHttpHeaders[];
  /** Everything that came, as text. */
  readonly bodies: string[];
  /** The status of every answer from now on; `hang` is none. */
  status: number | 'hang';
}

/** An OTLP/HTTP collector. It ends with the test. */
export async function startCollector(): Promise<Collector> {
  const collector: Omit<Collector, 'url'> = {
    ...{ spans: [], resources: [], headers: [], bodies: [], status: 200 },
  };
  const server = createServer((incoming, response) => {
    const answer = async (): Promise<void> => {
      const body = await text(incoming);
      collector.headers.push(incoming.headers);
      collector.bodies.push(body);
      if (collector.status === 'hang') return;
      if (collector.status === 200 && incoming.url === '/v1/traces') {
        for (const { resource, scopeSpans } of request.parse(JSON.parse(body)).resourceSpans) {
          collector.resources.push(resource.attributes);
          for (const { spans } of scopeSpans) collector.spans.push(...spans);
        }
      }
      response.writeHead(incoming.url === '/v1/traces' ? collector.status : 404, {
        'content-type': 'application/json',
      });
      response.end('{}');
    };
    answer().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return Object.assign(collector, { url: `http://127.0.0.1:${port}` });
}

/** The spans of each trace as a tree: names in the order of their start, `!` where one failed. */
export function trees(spans: readonly SeenSpan[]): string[] {
  const byStart = spans.toSorted((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano));
  const below = (parent: string | undefined, traceId: string): string =>
    byStart
      .filter((span) => span.traceId === traceId && span.parentSpanId === parent)
      .map(({ name, spanId, status }) => {
        const inside = below(spanId, traceId);
        return `${name}${status.code === 2 ? '!' : ''}${inside === '' ? '' : `(${inside})`}`;
      })
      .join(' ');
  return [...new Set(byStart.map(({ traceId }) => traceId))].map((id) => below(undefined, id));
}
