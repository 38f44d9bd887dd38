import { SHOP } from '../support/shop.ts';
import { percentile } from '../support/statistics.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import type { Line } from './lines.ts';
import { setStage } from './stage.ts';

const OPEN = 1000;
const WAITING = 100;
const WITHIN_MS = 2_000;
const REQUESTS_PER_SECOND = 2;
const SPREAD_MS = 10_000;
const DELIVERED_WITHIN_MS = 120_000;

/** Measures the time from a reply's listing to its arrival, and how often the platform is asked. */
export async function measureReplies(bench: Workbench, quick: boolean): Promise<Line[]> {
  const { platform, gateway, newVisitors } = await setStage(bench);
  const visitors = await newVisitors();
  const asked = async (question: string, count: number): Promise<void> => {
    await waitUntil('the questions at the platform', DELIVERED_WITHIN_MS, async () =>
      (await platform.call('asked', question)) >= count ? true : undefined,
    );
  };
  const firstQuestion = 'Where is my order?';
  await visitors.call('open', gateway.httpPort, SHOP.chatKey, OPEN, firstQuestion);
  await asked(firstQuestion, OPEN);
  // Everyone has an answer; from now on only those who ask again wait.
  const first = await platform.call('answer', firstQuestion, 0);
  await visitors.call(
    'arrived',
    first.map(([text]) => text),
  );

  const rounds = quick ? 1 : 4;
  const lateness: number[] = [];
  const requests: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const question = `And question ${round}?`;
    await visitors.call('ask', WAITING, question);
    await asked(question, WAITING);
    const requestsBefore = await platform.call('listRequests');
    const started = performance.now();
    const answers = await platform.call('answer', question, SPREAD_MS);
    const arrivals = await visitors.call(
      'arrived',
      answers.map(([text]) => text),
    );
    const seconds = (performance.now() - started) / 1000;
    lateness.push(...arrivals.map((time, nth) => time - (answers[nth]?.[1] ?? NaN)));
    // There is one more request than there are intervals between requests.
    const asks = (await platform.call('listRequests')) - requestsBefore - 1;
    requests.push(asks / seconds);
  }
  const faults = await visitors.call('faults');
  if (faults.length > 0) throw new Error(`the visitors were shown: ${faults.join('; ')}`);
  await visitors.call('close');
  await gateway.stop();
  for (const part of [visitors, platform]) await part.stop();

  const p95 = percentile(lateness, 0.95);
  const most = Math.max(...requests);
  return [
    {
      what: `reply to screen, ${WAITING} of ${OPEN} waiting, 95th percentile`,
      sluice: `${p95.toFixed(0)} ms (median ${percentile(lateness, 0.5).toFixed(0)} ms)`,
      goal: `at most ${WITHIN_MS} ms`,
      met: p95 <= WITHIN_MS,
    },
    {
      what: '  list requests a second meanwhile',
      sluice: most.toFixed(2),
      goal: `at most ${REQUESTS_PER_SECOND}`,
      met: most <= REQUESTS_PER_SECOND,
    },
  ];
}
