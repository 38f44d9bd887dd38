import { setTimeout as delay } from 'node:timers/promises';
import { CHANNELS } from '../../src/domain/channel.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Workbench } from '../support/workbench.ts';
import { Balancer } from './balancer.ts';
import { drained } from './drain.ts';
import { startFleet } from './gateways.ts';
import { Load } from './load.ts';
import { lossesOf, print, printTries } from './report.ts';

const GATEWAYS = 3;
/** Between a gateway that is ready again and the end of the next one. */
const SETTLE_MS = 3000;
const DRAIN_WITHIN_MS = 300_000;
const INSTANT_MS = 100;

/**
 * Three gateways behind a load balancer are restarted one after the other while messages arrive. Does any sender
 * notice? Resolves with whether none does.
 */
export async function rolling(
  bench: Workbench,
  { messages, minutes, seed }: { messages: number; minutes: number; seed: number },
): Promise<boolean> {
  const fleet = await startFleet(bench, GATEWAYS);
  const balancer = await Balancer.start(bench, fleet.gateways);
  const load = new Load({
    ...{ doors: [balancer], messages, seed, copies: false, overMs: minutes * 60_000 },
  });
  const sending = load.run();
  const restarts = (async () => {
    for (const [n, gateway] of fleet.gateways.entries()) {
      await delay(SETTLE_MS);
      const begunAt = performance.now();
      const code = await gateway.terminate();
      const stoppedAt = performance.now();
      await gateway.startAgain();
      await waitFor('the balancer', () => balancer.isReady(gateway), 100);
      const [stop, start] = [stoppedAt - begunAt, performance.now() - stoppedAt];
      console.log(
        `gateway ${n + 1}: stopped in ${(stop / 1000).toFixed(1)} s with code ${code ?? 'none'}, ` +
          `ready again after ${(start / 1000).toFixed(1)} s`,
      );
    }
  })();
  await Promise.all([sending, restarts]);
  const rest = await drained(fleet.url, DRAIN_WITHIN_MS);
  const left = load.visitors.flatMap(({ disconnectedAt }) => disconnectedAt);
  const losses = await lossesOf(load, fleet, rest);
  printTries(load);
  console.log(
    `${left.length} visitors were disconnected, at most ${mostAtOnce(left)} of them within ${INSTANT_MS} ms`,
  );
  return print([...losses, ['tries that a sender had to repeat', repeated(load)]]);
}

/**
 * Tries that a sender would see as failed. A visitor whose connection ends sends what is on its way once more,
 * as the widget does, and sees nothing of it.
 */
function repeated({ counts }: Load): string[] {
  return CHANNELS.flatMap((channel) =>
    [...counts[channel].refused]
      .filter(([answer]) => channel !== 'web_chat' || answer !== 'no connection')
      .map(([answer, count]) => `${channel}: ${count} times ${answer}`),
  );
}

function mostAtOnce(times: readonly number[]): number {
  const each = times.map((at) => times.filter((time) => time >= at && time < at + INSTANT_MS));
  return Math.max(0, ...each.map(({ length }) => length));
}
