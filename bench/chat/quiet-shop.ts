import { SHOP } from '../support/shop.ts';
import { percentile } from '../support/statistics.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import type { Line } from './lines.ts';
import { setStage } from './stage.ts';

const QUESTIONS = 10;
const WITHIN_MS = 2_000;
/** The maximum time that an agent thinks before each of the two replies. */
const THINKS_MS = 4_000;
const DELIVERED_WITHIN_MS = 30_000;

/** Measures when each of two replies to a question is on the only visitor's screen. */
export async function measureQuietShop(bench: Workbench, quick: boolean): Promise<Line[]> {
  const { platform, gateway, newVisitors } = await setStage(bench);
  const visitor = await newVisitors();
  await visitor.call('open', gateway.httpPort, SHOP.chatKey, 1, 'Is somebody there?');
  const openings = ['First, about', 'Then, about'] as const;
  const lateness = new Map<string, number[]>(openings.map((opening) => [opening, []]));
  for (let nth = 1; nth <= (quick ? 3 : QUESTIONS); nth += 1) {
    const question = `Question ${nth}?`;
    await visitor.call('ask', 1, question);
    await waitUntil('the question at the platform', DELIVERED_WITHIN_MS, async () =>
      (await platform.call('asked', question)) === 1 ? true : undefined,
    );
    for (const opening of openings) {
      const [reply] = await platform.call('answer', question, THINKS_MS, opening);
      if (reply === undefined) throw new Error('the platform lost a question');
      const [text, listedAt] = reply;
      const [arrivedAt = NaN] = await visitor.call('arrived', [text]);
      lateness.get(opening)?.push(arrivedAt - listedAt);
    }
  }
  await visitor.call('close');
  await gateway.stop();
  for (const part of [visitor, platform]) await part.stop();
  return [...lateness.values()].map((times, nth) => {
    const p95 = percentile(times, 0.95);
    return {
      what: `one visitor, ${nth === 0 ? 'first' : 'second'} reply to screen, 95th percentile`,
      sluice: `${p95.toFixed(0)} ms (median ${percentile(times, 0.5).toFixed(0)} ms)`,
      goal: `at most ${WITHIN_MS} ms`,
      met: p95 <= WITHIN_MS,
    };
  });
}
