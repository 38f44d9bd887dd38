/**
 * npm run bench -- slow-clients [--quick] [--json]
 *
 * 1,000 SMTP clients that connect and trickle (silence, bytes of a command, harmless commands,
 * bytes of a message, half a TLS handshake), from 50 addresses and from 1,000, none of them a
 * trusted relay. Each must be disconnected within five minutes, while a well-behaved client from
 * another address gets its message acknowledged in under a second. It takes six minutes; --quick
 * divides the server's time limits by twenty.
 *
 * Before that, the same over HTTP with a complete gateway: on the public port and on the console's,
 * 500 slow bodies and 500 slow headers, from one address and from 250; --quick uses 100 of each.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { EMAIL_SERVER_DEFAULTS } from '../src/channels/email/door-smtp.ts';
import { SmtpSession } from './load/smtp-session.ts';
import type * as Door from './slow/door.ts';
import { besiegeHttp, type HttpResult } from './slow/http-siege.ts';
import type * as Trickle from './slow/trickle.ts';
import { readOptions } from './support/options.ts';
import { percentile } from './support/statistics.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const CLIENTS = 1000;
/** The server checks once a second, and the clients' clock starts a little earlier. */
const LATE_MS = 5000;
const ANSWERED_WITHIN_MS = 1000;
const HONEST_EVERY_MS = 600;
const TRICKLE_EVERY_MS = 5000;

interface Result {
  readonly addresses: number;
  readonly refused: number;
  readonly stillOpen: number;
  readonly cutWithinSeconds: number;
  readonly cutGoalSeconds: number;
  readonly honest: number;
  readonly honestRefused: number;
  readonly honestP95Ms: number;
  readonly met: boolean;
}

const options = readOptions();
const faster = options.quick ? 20 : 1;
const cutWithinMs = EMAIL_SERVER_DEFAULTS.noMessageMs / faster + LATE_MS;

await withWorkbench(async (bench) => {
  const http: HttpResult[] = [];
  for (const addresses of [1, 250]) {
    http.push(await besiegeHttp(bench, { addresses, clients: options.quick ? 100 : 500 }));
  }
  if (!options.json) for (const result of http) printHttp(result);
  // In parallel, because each takes five minutes.
  const results = await Promise.all([besiege(bench, 50, 1), besiege(bench, CLIENTS, 2)]);
  if (options.json) console.log(JSON.stringify({ http, smtp: results }, null, 2));
  else for (const result of results) print(result);
  if (![...http, ...results].every(({ met }) => met)) process.exitCode = 1;
});

async function besiege(bench: Workbench, addresses: number, network: number): Promise<Result> {
  const at = (file: string) => new URL(file, import.meta.url);
  const folder = await bench.folder();
  const door = await bench.part<typeof Door>(at('./slow/door.ts'), { folder, faster });
  const port = await door.call('port');
  const slow = await bench.part<typeof Trickle>(at('./slow/trickle.ts'), {
    port,
    addresses: Array.from({ length: CLIENTS }, (_, n) => slowAddress(network, n % addresses)),
    everyMs: TRICKLE_EVERY_MS / faster,
  });
  const deadline = performance.now() + cutWithinMs + LATE_MS;
  const answers: number[] = [];
  let honestRefused = 0;
  for (;;) {
    const { open } = await slow.call('trickled');
    if (open === 0 || performance.now() > deadline) break;
    const seconds = await honestMessage(port, honestAddress(network, answers.length));
    if (seconds === undefined) honestRefused += 1;
    else answers.push(seconds);
    await delay(HONEST_EVERY_MS);
  }
  const { open, refused, cutAfterMs } = await slow.call('trickled');
  await slow.call('stop');
  await door.call('stop');
  const longest = Math.max(0, ...cutAfterMs);
  // A refused message counts as not answered in time.
  const all = [...answers, ...Array.from({ length: honestRefused }, () => Infinity)];
  const p95 = percentile(all, 0.95);
  return {
    addresses,
    refused,
    stillOpen: open,
    cutWithinSeconds: longest / 1000,
    cutGoalSeconds: cutWithinMs / 1000,
    honest: all.length,
    honestRefused,
    honestP95Ms: p95,
    met: open === 0 && longest <= cutWithinMs && p95 < ANSWERED_WITHIN_MS,
  };
}

/** Milliseconds from connecting to the answer to the final dot; undefined if it was refused. */
async function honestMessage(port: number, localAddress: string): Promise<number | undefined> {
  const started = performance.now();
  try {
    const session = await SmtpSession.open(port, localAddress);
    const id = `<${started}.${localAddress}@example.com>`;
    await session.send('ann@example.com', [
      Buffer.from(`From: ann@example.com\r\nMessage-ID: ${id}\r\nSubject: Hello\r\n\r\nHi\r\n`),
    ]);
    session.close();
    return performance.now() - started;
  } catch {
    return undefined;
  }
}

function slowAddress(network: number, n: number): string {
  return `127.${10 + network}.${Math.floor(n / 200)}.${1 + (n % 200)}`;
}

/** A few addresses in turn: a single one would exceed the rate limit. */
function honestAddress(network: number, n: number): string {
  return `127.${20 + network}.0.${1 + (n % 4)}`;
}

function print(result: Result): void {
  const { addresses, refused, stillOpen, cutWithinSeconds, cutGoalSeconds } = result;
  const { honest, honestRefused, honestP95Ms, met } = result;
  console.log(
    `${met ? 'PASS' : 'FAIL'} ${CLIENTS} slow clients from ${addresses} addresses: ${refused} refused ` +
      `at once, the others cut off within ${cutWithinSeconds.toFixed(1)} s (goal ` +
      `${cutGoalSeconds.toFixed(0)} s), ${stillOpen} still there`,
  );
  console.log(
    `     ${honest} honest messages meanwhile: ${honestRefused} refused, acknowledged in ` +
      `${honestP95Ms.toFixed(0)} ms at the 95th percentile (goal ${ANSWERED_WITHIN_MS} ms)`,
  );
}

function printHttp(result: HttpResult): void {
  const { clients, addresses, refused, stillOpen, longestSeconds, goals, honest, met } = result;
  console.log(
    `${met ? 'PASS' : 'FAIL'} HTTP: ${clients} slow clients from ${addresses} addresses: ${refused} refused, ` +
      `the slowest of the others lived ${longestSeconds.toFixed(1)} s (goal ` +
      `${goals.longestSeconds} s), ${stillOpen} still there`,
  );
  for (const { what, count, refusals, p95Ms } of honest) {
    console.log(
      `     ${count} honest ${what} meanwhile: ${refusals} refused (goal 0), answered in ` +
        `${p95Ms.toFixed(0)} ms at the 95th percentile (goal ${goals.p95Ms} ms)`,
    );
  }
}
