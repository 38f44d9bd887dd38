import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { signedRequest } from '../load/webhooks.ts';
import { ADMIN_PASSWORD, startGateway } from '../support/gateway.ts';
import { percentile } from '../support/statistics.ts';
import type { Workbench } from '../support/workbench.ts';
import type * as Trickle from './http-trickle.ts';

/** 15 s for headers or one window of a body, plus some until the client sees the end. */
const GOALS = { longestSeconds: 25, p95Ms: 500 } as const;
const TRICKLE_EVERY_MS = 1000;
const HONEST_EVERY_MS = 100;
const ANSWERED_WITHIN_MS = 10_000;

export interface HttpResult {
  readonly addresses: number;
  readonly clients: number;
  readonly refused: number;
  readonly stillOpen: number;
  readonly longestSeconds: number;
  readonly honest: readonly Honest[];
  readonly goals: typeof GOALS;
  readonly met: boolean;
}

interface Honest {
  readonly what: string;
  readonly count: number;
  readonly refusals: number;
  readonly p95Ms: number;
}

/** Runs a complete gateway with slow clients on both ports, while well-behaved clients continue. */
export async function besiegeHttp(
  bench: Workbench,
  { addresses, clients }: { readonly addresses: number; readonly clients: number },
): Promise<HttpResult> {
  const gateway = await startGateway(bench, {
    ...{ platformUrl: 'http://127.0.0.1:9', paused: true, strictHttp: true },
  });
  const { httpPort, adminPort } = gateway;
  const slow = await bench.part<typeof Trickle>(new URL('./http-trickle.ts', import.meta.url), {
    ports: [httpPort, adminPort],
    clients,
    addresses: Array.from(
      { length: addresses },
      (_, n) => `127.31.${Math.floor(n / 200)}.${1 + (n % 200)}`,
    ),
    everyMs: TRICKLE_EVERY_MS,
  });
  const deadline = performance.now() + 2 * GOALS.longestSeconds * 1000;
  const answers = { webhooks: [] as number[], console: [] as number[] };
  for (let index = 0; ; index += 1) {
    const { open } = await slow.call('trickled');
    if (open === 0 || performance.now() > deadline) break;
    const from = `127.32.0.${1 + (index % 4)}`;
    answers.webhooks.push(await answeredMs(httpPort, from, signedRequest(index)));
    answers.console.push(await answeredMs(adminPort, from, OVERVIEW));
    await delay(HONEST_EVERY_MS);
  }
  const { open, refused, livedMs } = await slow.call('trickled');
  await slow.call('stop');
  await gateway.stop();
  const longestSeconds = Math.max(0, ...livedMs) / 1000;
  const honest = [
    honestOf('webhooks', answers.webhooks),
    honestOf('requests of the console', answers.console),
  ];
  const areServed = honest.every(({ refusals, p95Ms }) => refusals === 0 && p95Ms < GOALS.p95Ms);
  return {
    // Two ways on two ports.
    ...{ addresses, clients: 4 * clients, refused, stillOpen: open, longestSeconds, honest },
    goals: GOALS,
    met: open === 0 && longestSeconds <= GOALS.longestSeconds && areServed,
  };
}

const OVERVIEW = Buffer.from(
  'GET /api/overview HTTP/1.1\r\nHost: localhost\r\n' +
    `Authorization: Bearer ${ADMIN_PASSWORD}\r\n\r\n`,
);

function honestOf(what: string, answers: readonly number[]): Honest {
  const refusals = answers.filter((ms) => ms === Infinity).length;
  return { what, count: answers.length, refusals, p95Ms: percentile(answers, 0.95) };
}

/** Milliseconds from connecting to a 200; Infinity if there was none. */
function answeredMs(port: number, localAddress: string, request: Buffer): Promise<number> {
  const started = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    const end = (ms: number): void => {
      socket.destroy();
      resolve(ms);
    };
    socket.setTimeout(ANSWERED_WITHIN_MS, () => end(Infinity));
    socket.on('error', () => end(Infinity));
    socket.on('close', () => end(Infinity));
    socket.once('data', (data) => {
      const isServed = data.toString('latin1').startsWith('HTTP/1.1 200 ');
      end(isServed ? performance.now() - started : Infinity);
    });
    socket.write(request);
  });
}
