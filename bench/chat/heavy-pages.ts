import { SHOP } from '../support/shop.ts';
import { percentile } from '../support/statistics.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import type { Line } from './lines.ts';
import { setStage } from './stage.ts';

const HONEST = 20;
const ROUNDS = 8;
const SPREAD_MS = 5_000;
const WITHIN_MS = 3_000;
const DELIVERED_WITHIN_MS = 60_000;
/** 200 of them, one page, are more than 6 MB. */
const LONG_TEXT = '😀'.repeat(8_000);
const LONG_TEXTS = 300;

/** Measures other visitors' replies while one visitor sends the longest possible messages. */
export async function measureHeavyPages(bench: Workbench, quick: boolean): Promise<Line[]> {
  const { platform, gateway, newVisitors } = await setStage(bench);
  const visitors = await newVisitors();
  const attacker = await newVisitors();
  await visitors.call('open', gateway.httpPort, SHOP.chatKey, HONEST, 'Hello?');
  await attacker.call('open', gateway.httpPort, SHOP.chatKey, 1, 'Hello!');
  const over = new AbortController();
  const attack = (async () => {
    for (let nth = 0; nth < LONG_TEXTS && !over.signal.aborted; nth += 1)
      await attacker.call('ask', 1, LONG_TEXT);
  })();
  const lateness: number[] = [];
  for (let round = 1; round <= (quick ? 3 : ROUNDS); round += 1) {
    const question = `Question ${round}?`;
    await visitors.call('ask', HONEST, question);
    await waitUntil('the questions at the platform', DELIVERED_WITHIN_MS, async () =>
      (await platform.call('asked', question)) === HONEST ? true : undefined,
    );
    const answers = await platform.call('answer', question, SPREAD_MS);
    const arrivals = await visitors.call(
      'arrived',
      answers.map(([text]) => text),
    );
    lateness.push(...arrivals.map((time, nth) => time - (answers[nth]?.[1] ?? NaN)));
  }
  over.abort();
  await attack;
  await visitors.call('close');
  await attacker.call('close');
  await gateway.stop();
  for (const part of [visitors, attacker, platform]) await part.stop();
  const p95 = percentile(lateness, 0.95);
  return [
    {
      what: `reply to screen while one visitor writes ${LONG_TEXTS} x 8,000 emoji, 95th percentile`,
      sluice: `${p95.toFixed(0)} ms (median ${percentile(lateness, 0.5).toFixed(0)} ms)`,
      goal: `at most ${WITHIN_MS} ms`,
      met: p95 <= WITHIN_MS,
    },
  ];
}
