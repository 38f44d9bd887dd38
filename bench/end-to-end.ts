/**
 * npm run bench -- end-to-end [--quick] [--json] [--only NAME] [--profile FOLDER]
 *
 * Measures how many emails per second get from the sender to the platform, from the first one sent
 * to the last one submitted, compared in the same run with a naive bridge that stores nothing.
 */
import type * as NaiveBridge from './baselines/naive-bridge.ts';
import type { EmailKind } from './load/email-messages.ts';
import type * as EmailLoad from './load/emails.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { startGateway } from './support/gateway.ts';
import { judge, printTable, type Row } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import { printProgress, takeTurns } from './support/rounds.ts';
import { warmMemory } from './support/warm-memory.ts';
import { withWorkbench } from './support/workbench.ts';

const SLUICE = 'Sluice';
const BRIDGE = 'naive bridge';
const CONNECTIONS = 32;
const DELIVERED_WITHIN_MS = 300_000;
const GOALS = [{ of: SLUICE, over: BRIDGE, atLeast: 0.8 }];
const SCENARIOS: readonly { name: string; kind: EmailKind; messages: number }[] = [
  { name: 'email 2 KB, text', kind: 'text', messages: 4000 },
  { name: 'email 30 KB, newsletter', kind: 'newsletter', messages: 1500 },
  { name: 'email 1 MB, attachment', kind: 'attachment', messages: 200 },
];

const options = readOptions();

await withWorkbench(async (bench) => {
  if (!options.quick) await warmMemory(await bench.folder());
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const platformUrl = await platform.call('url');
  const bridge = await bench.part<typeof NaiveBridge>(at('./baselines/naive-bridge.ts'), {
    platformUrl,
    processes: 1,
  });
  const load = await bench.part<typeof EmailLoad>(at('./load/emails.ts'), undefined);
  const bridgePort = await bridge.call('port');
  const { profile } = options;
  const gateway = await startGateway(bench, {
    platformUrl,
    paused: false,
    ...(profile !== undefined && { profileInto: profile }),
  });

  const carry = async (port: number, kind: EmailKind, messages: number): Promise<number> => {
    await platform.call('forget');
    await load.call('prepare', kind, messages);
    const { startedAt } = await load.call('run', port, CONNECTIONS);
    const lastSubmittedAt = await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
    return messages / ((lastSubmittedAt - startedAt) / 1000);
  };

  const rows: Row[] = [];
  for (const { name, kind, messages } of SCENARIOS) {
    if (!name.includes(options.only)) continue;
    const count = options.quick ? Math.ceil(messages / 4) : messages;
    const measured = await takeTurns(
      [
        { name: SLUICE, measure: () => carry(gateway.smtpPort, kind, count) },
        { name: BRIDGE, measure: () => carry(bridgePort, kind, count) },
      ],
      options.quick ? 1 : 5,
      printProgress(name),
    );
    rows.push({ scenario: name, measured, judged: judge(measured, GOALS), noted: [] });
  }
  if (options.json) console.log(JSON.stringify(rows, null, 2));
  else printTable([SLUICE, BRIDGE], rows);
  if (rows.some(({ judged }) => judged.some(({ met }) => !met))) process.exitCode = 1;
});
