/**
 * npm run bench -- cost [--quick] [--json] [--only NAME] [--profile FOLDER]
 *
 * Measures what a message costs the gateway: processor time in each of its threads, bytes written, heap allocated and
 * fsyncs (counted by `perf`, if it is there and may); beside a naive bridge that stores nothing and a real Postfix in the same run. Each figure is the median of five rounds.
 */
import type * as NaiveBridge from './baselines/naive-bridge.ts';
import { MeasuredGateway } from './cost/measured-gateway.ts';
import { atRest, counts, SCENARIOS, type Stage } from './cost/scenarios.ts';
import type * as ChatLoad from './load/chat.ts';
import type * as EmailLoad from './load/emails.ts';
import type * as SignedEmails from './load/signed-emails.ts';
import type * as WebhookLoad from './load/webhooks.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Figure, printFigures } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import { startPostfix } from './support/postfix.ts';
import { warmMemory } from './support/warm-memory.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const options = readOptions();
const REST_MS = options.quick ? 5000 : 60_000;

await withWorkbench(async (bench) => {
  if (!options.quick) await warmMemory(await bench.folder());
  const stage = await setUp(bench);
  const figures: Figure[] = [];
  if ('at rest'.includes(options.only)) figures.push(...(await started(bench, stage)));
  for (const { name, run } of SCENARIOS) {
    if (!name.includes(options.only)) continue;
    console.error(name);
    figures.push(...(await run(stage)));
  }
  if ('counts'.includes(options.only)) figures.push(...(await counted(bench, stage)));
  const allMet = options.json ? true : printFigures(figures);
  if (options.json) console.log(JSON.stringify(figures, null, 2));
  if (!allMet) process.exitCode = 1;
});

async function setUp(bench: Workbench): Promise<Stage> {
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const platformUrl = await platform.call('url');
  const signed = await bench.part<typeof SignedEmails>(at('./load/signed-emails.ts'), undefined);
  const { profile } = options;
  const common = { platformUrl, paused: false };
  return {
    gateway: await MeasuredGateway.start(bench, {
      ...common,
      ...(profile !== undefined && { profileInto: profile }),
    }),
    outside: await MeasuredGateway.start(bench, {
      ...{ ...common, nameServer: await signed.call('address') },
    }),
    paused: await MeasuredGateway.start(bench, { ...common, paused: true }),
    ...{ platform, signed, postfix: await startPostfix(bench) },
    bridge: await bench.part<typeof NaiveBridge>(at('./baselines/naive-bridge.ts'), {
      platformUrl,
    }),
    emails: await bench.part<typeof EmailLoad>(at('./load/emails.ts'), undefined),
    webhooks: await bench.part<typeof WebhookLoad>(at('./load/webhooks.ts'), undefined),
    chat: await bench.part<typeof ChatLoad>(at('./load/chat.ts'), undefined),
    rounds: options.quick ? 1 : 5,
    share: options.quick ? 0.25 : 1,
  };
}

async function counted(bench: Workbench, stage: Stage): Promise<Figure[]> {
  const gateway = await MeasuredGateway.start(bench, {
    ...{ platformUrl: await stage.platform.call('url'), paused: false },
    nodeArguments: ['--trace-gc'],
  });
  const figures = await counts(stage, gateway);
  await gateway.gateway.stop();
  return figures;
}

/** A start, and what the gateway costs while nothing arrives. */
async function started(bench: Workbench, { platform }: Stage): Promise<Figure[]> {
  const startedAt = performance.now();
  const gateway = await MeasuredGateway.start(bench, {
    platformUrl: await platform.call('url'),
    paused: false,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const rest = await atRest(gateway, REST_MS);
  await gateway.gateway.stop();
  return [{ what: 'a start, in seconds', value: seconds, atMost: 1 }, ...rest];
}
