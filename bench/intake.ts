/**
 * npm run bench -- intake [--quick] [--json] [--only NAME] [--profile FOLDER]
 *
 * Measures how many messages per second each channel acknowledges durably, compared in the same run
 * with two baselines: a real Postfix that accepts into its hold queue, and each channel's library
 * alone, which stores nothing. Once with delivery paused, for which the goals are set, and once
 * with delivery running.
 */
import type * as BareChat from './baselines/bare-chat.ts';
import type * as BareSmtp from './baselines/bare-smtp.ts';
import type * as BareWebhook from './baselines/bare-webhook.ts';
import type * as ChatLoad from './load/chat.ts';
import type * as WebhookLoad from './load/webhooks.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { type Goal, judge, printTable, type Row } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import type { Part } from './support/part.ts';
import { type Postfix, startPostfix } from './support/postfix.ts';
import { type Contender, printProgress, takeTurns } from './support/rounds.ts';
import { runSmtpSource, type SmtpLoad } from './support/smtp-source.ts';
import { warmMemory } from './support/warm-memory.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const PAUSED = 'Sluice';
const RUNNING = 'Sluice, delivering';
const POSTFIX = 'Postfix';
const BARE = 'bare library';
const WEBHOOK_CONNECTIONS = 50;
const CHAT_CLIENTS = 100;
/** How long a backlog may take to be delivered before the next measurement. */
const DRAIN_MS = 300_000;

interface Scenario {
  readonly name: string;
  readonly goals: readonly Goal[];
  readonly contenders: readonly Contender[];
}

interface Stage {
  readonly paused: Gateway;
  readonly running: Gateway;
  readonly postfix: Postfix;
  readonly platform: Part<typeof FastPlatform>;
  readonly bareSmtpPort: number;
  readonly bareWebhookPort: number;
  readonly bareChatPort: number;
  readonly webhooks: Part<typeof WebhookLoad>;
  readonly chat: Part<typeof ChatLoad>;
  readonly scale: number;
}

const options = readOptions();

await withWorkbench(async (bench) => {
  const stage = await setUp(bench);
  const rows: Row[] = [];
  for (const { name, goals, contenders } of scenarios(stage)) {
    if (!name.includes(options.only)) continue;
    const measured = await takeTurns(contenders, options.quick ? 1 : 5, printProgress(name));
    const alsoRunning = goals.map((goal) => ({ ...goal, of: RUNNING }));
    rows.push({
      scenario: name,
      measured,
      judged: judge(measured, goals),
      noted: judge(measured, alsoRunning),
    });
  }
  if (options.json) console.log(JSON.stringify(rows, null, 2));
  else printTable([PAUSED, RUNNING, POSTFIX, BARE], rows);
  if (rows.some(({ judged }) => judged.some(({ met }) => !met))) process.exitCode = 1;
});

async function setUp(bench: Workbench): Promise<Stage> {
  if (!options.quick) await warmMemory(await bench.folder());
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const platformUrl = await platform.call('url');
  const { profile } = options;
  const profiled = profile === undefined ? {} : { profileInto: profile };
  const bareSmtp = await bench.part<typeof BareSmtp>(at('./baselines/bare-smtp.ts'), undefined);
  const bareWebhook = await bench.part<typeof BareWebhook>(
    at('./baselines/bare-webhook.ts'),
    undefined,
  );
  const bareChat = await bench.part<typeof BareChat>(at('./baselines/bare-chat.ts'), {
    sendsLines: false,
  });
  return {
    paused: await startGateway(bench, { platformUrl, paused: true, ...profiled }),
    running: await startGateway(bench, { platformUrl, paused: false }),
    postfix: await startPostfix(bench),
    platform,
    bareSmtpPort: await bareSmtp.call('port'),
    bareWebhookPort: await bareWebhook.call('port'),
    bareChatPort: await bareChat.call('port'),
    webhooks: await bench.part<typeof WebhookLoad>(at('./load/webhooks.ts'), undefined),
    chat: await bench.part<typeof ChatLoad>(at('./load/chat.ts'), undefined),
    scale: options.quick ? 0.1 : 1,
  };
}

function scenarios(stage: Stage): Scenario[] {
  return [
    {
      name: 'email 2 KB, 50 sessions, reused',
      goals: [atLeast(3, POSTFIX), atLeast(0.5, BARE)],
      contenders: emailContenders(stage, { sessions: 50, bytes: 2048, reuse: true }, 10_000),
    },
    {
      name: 'email 2 KB, 50 sessions, one each',
      goals: [atLeast(1.5, POSTFIX)],
      contenders: emailContenders(stage, { sessions: 50, bytes: 2048, reuse: false }, 5000),
    },
    {
      name: 'email 1 MB, 10 sessions, reused',
      goals: [atLeast(0.8, POSTFIX)],
      contenders: emailContenders(stage, { sessions: 10, bytes: 1024 ** 2, reuse: true }, 300),
    },
    {
      name: `webhooks, ${WEBHOOK_CONNECTIONS} connections`,
      goals: [atLeast(0.7, BARE)],
      contenders: webhookContenders(stage, 6000),
    },
    {
      name: `chat, ${CHAT_CLIENTS} clients`,
      goals: [atLeast(0.6, BARE)],
      contenders: chatContenders(stage, 150),
    },
  ];
}

function atLeast(ratio: number, over: string): Goal {
  return { of: PAUSED, over, atLeast: ratio };
}

function emailContenders(
  stage: Stage,
  shape: Omit<SmtpLoad, 'messages'>,
  messages: number,
): Contender[] {
  const send = async (port: number, share = 1): Promise<number> => {
    const load = { ...shape, messages: Math.ceil(messages * stage.scale * share) };
    return load.messages / (await runSmtpSource(port, load));
  };
  return [
    { name: PAUSED, measure: () => send(stage.paused.smtpPort) },
    {
      name: POSTFIX,
      measure: async () => {
        // Postfix needs about as long for a quarter of the messages as the others for all.
        const perSecond = await send(stage.postfix.port, shape.bytes > 100_000 ? 1 : 0.25);
        await stage.postfix.clear();
        return perSecond;
      },
    },
    { name: BARE, measure: () => send(stage.bareSmtpPort) },
    {
      name: RUNNING,
      measure: () => delivering(stage, messages, (share) => send(stage.running.smtpPort, share)),
    },
  ];
}

function webhookContenders(stage: Stage, messages: number): Contender[] {
  const send = async (port: number): Promise<number> => {
    const count = Math.ceil(messages * stage.scale);
    await stage.webhooks.call('prepare', count);
    return count / (await stage.webhooks.call('run', port, WEBHOOK_CONNECTIONS)).seconds;
  };
  return [
    { name: PAUSED, measure: () => send(stage.paused.httpPort) },
    { name: BARE, measure: () => send(stage.bareWebhookPort) },
    {
      name: RUNNING,
      measure: () => delivering(stage, messages, () => send(stage.running.httpPort)),
    },
  ];
}

function chatContenders(stage: Stage, messagesEach: number): Contender[] {
  const send = async (port: number): Promise<number> => {
    const each = Math.ceil(messagesEach * stage.scale);
    const { seconds } = await stage.chat.call('run', port, CHAT_CLIENTS, each);
    return (each * CHAT_CLIENTS) / seconds;
  };
  const total = messagesEach * CHAT_CLIENTS;
  return [
    { name: PAUSED, measure: () => send(stage.paused.httpPort) },
    { name: BARE, measure: () => send(stage.bareChatPort) },
    { name: RUNNING, measure: () => delivering(stage, total, () => send(stage.running.httpPort)) },
  ];
}

/** Measures during delivery, then waits for the rest, so that no measurement has a backlog. */
async function delivering(
  stage: Stage,
  messages: number,
  send: (share?: number) => Promise<number>,
): Promise<number> {
  await stage.platform.call('forget');
  const perSecond = await send();
  await stage.platform.call('whenCount', Math.ceil(messages * stage.scale), DRAIN_MS);
  return perSecond;
}
