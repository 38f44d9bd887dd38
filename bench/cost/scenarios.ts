import { setTimeout as delay } from 'node:timers/promises';
import type * as NaiveBridge from '../baselines/naive-bridge.ts';
import type * as ChatLoad from '../load/chat.ts';
import type { EmailKind } from '../load/email-messages.ts';
import type * as EmailLoad from '../load/emails.ts';
import type * as SignedEmails from '../load/signed-emails.ts';
import type * as WebhookLoad from '../load/webhooks.ts';
import type * as FastPlatform from '../platform/fast-platform.ts';
import type { Figure } from '../support/goals.ts';
import type { Part } from '../support/part.ts';
import { processTreeSeconds } from '../support/process-time.ts';
import { median } from '../support/statistics.ts';
import { type Postfix } from '../support/postfix.ts';
import { runSmtpSource } from '../support/smtp-source.ts';
import { allocatedMb, countFsyncs } from './counts.ts';
import type { Cost, MeasuredGateway } from './measured-gateway.ts';

const CONNECTIONS = 32;
const DELIVERED_WITHIN_MS = 300_000;
const WEBHOOK_CONNECTIONS = 50;
const CHAT_CLIENTS = 100;

export interface Stage {
  readonly gateway: MeasuredGateway;
  /** Its clients are strangers, whose mail is signed. */
  readonly outside: MeasuredGateway;
  /** Acknowledges only. */
  readonly paused: MeasuredGateway;
  readonly platform: Part<typeof FastPlatform>;
  readonly bridge: Part<typeof NaiveBridge>;
  readonly postfix: Postfix;
  readonly emails: Part<typeof EmailLoad>;
  readonly signed: Part<typeof SignedEmails>;
  readonly webhooks: Part<typeof WebhookLoad>;
  readonly chat: Part<typeof ChatLoad>;
  readonly rounds: number;
  /** Of the messages. */
  readonly share: number;
}

export interface Scenario {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<Figure[]>;
}

interface EmailGoals {
  readonly ms?: number;
  readonly mainMs?: number;
  readonly ofBridge: number;
}

export const SCENARIOS: readonly Scenario[] = [
  email('email 2 KB', 'text', 4000, { ms: 1.5, mainMs: 0.35, ofBridge: 0.9 }),
  email('email 30 KB, newsletter', 'newsletter', 1500, { ofBridge: 1.3 }),
  email('email 1 MB, attachment', 'attachment', 200, { ofBridge: 1.1 }),
  { name: 'email 2 KB, signed, from outside', run: signedFromOutside },
  { name: 'accept email 2 KB', run: accept },
  { name: 'text', run: text },
  { name: 'chat', run: chat },
  { name: 'steady', run: steady },
];

/** From the sender to the platform. */
function email(name: string, kind: EmailKind, most: number, goals: EmailGoals): Scenario {
  return {
    name,
    run: async (stage) => {
      const { gateway, bridge, emails } = stage;
      const messages = Math.ceil(most * stage.share);
      const bridgePort = await bridge.call('port');
      const prepare = () => emails.call('prepare', kind, messages);
      const costs: Cost[] = [];
      const [rates, bridgeMs, ratios]: number[][] = [[], [], []];
      await inRounds(stage, async (isMeasured) => {
        await prepare();
        let rate = 0;
        const cost = await gateway.costOf(messages, async () => {
          rate = await carried(stage, gateway.gateway.smtpPort, messages);
        });
        await prepare();
        const before = await processTreeSeconds(bridge.pid);
        const bridgeRate = await carried(stage, bridgePort, messages);
        if (!isMeasured) return;
        costs.push(cost);
        rates?.push(rate);
        ratios?.push(rate / bridgeRate);
        bridgeMs?.push((((await processTreeSeconds(bridge.pid)) - before) * 1000) / messages);
      });
      return [
        ...figuresOf(name, costs, goals),
        { what: `${name}: naive bridge, ms`, value: median(bridgeMs ?? []) },
        { what: `${name}: messages a second`, value: median(rates ?? []) },
        {
          what: `${name}: messages a second ÷ naive bridge`,
          value: median(ratios ?? []),
          atLeast: goals.ofBridge,
        },
      ];
    },
  };
}

/** Sends what is prepared, and waits until the platform has it. Returns messages a second. */
async function carried(
  { platform, emails }: Stage,
  port: number,
  messages: number,
): Promise<number> {
  await platform.call('forget');
  const { startedAt } = await emails.call('run', port, CONNECTIONS);
  const last = await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
  return messages / ((last - startedAt) / 1000);
}

/** SPF, DKIM and DMARC are really checked. */
async function signedFromOutside(stage: Stage): Promise<Figure[]> {
  const { outside, signed, emails } = stage;
  const messages = Math.ceil(2000 * stage.share);
  const costs = await costsOf(stage, outside, messages, async () => {
    await emails.call('take', await signed.call('make', messages));
    return () => carried(stage, outside.gateway.smtpPort, messages);
  });
  return figuresOf('email 2 KB, signed, from outside', costs, { ms: 2 });
}

/** To the acknowledgement, beside a real Postfix that puts mail on hold. */
async function accept(stage: Stage): Promise<Figure[]> {
  const { paused, postfix } = stage;
  const messages = Math.ceil(10_000 * stage.share);
  const load = { sessions: 50, bytes: 2048, reuse: true };
  const costs = await costsOf(
    stage,
    paused,
    messages,
    () => () => runSmtpSource(paused.gateway.smtpPort, { ...load, messages }),
  );
  const postfixMs: number[] = [];
  await inRounds(stage, async (isMeasured) => {
    const before = await postfix.seconds();
    await runSmtpSource(postfix.port, { ...load, messages: Math.ceil(messages / 4) });
    const used = ((await postfix.seconds()) - before) * 1000;
    await postfix.clear();
    if (isMeasured) postfixMs.push(used / Math.ceil(messages / 4));
  });
  return [
    ...figuresOf('accept email 2 KB', costs, {}),
    { what: 'accept email 2 KB: Postfix, ms', value: median(postfixMs) },
  ];
}

/** From the webhook to the platform. */
async function text(stage: Stage): Promise<Figure[]> {
  const { gateway, platform, webhooks } = stage;
  const messages = Math.ceil(4000 * stage.share);
  const costs = await costsOf(stage, gateway, messages, async () => {
    await webhooks.call('prepare', messages);
    return async () => {
      await platform.call('forget');
      await webhooks.call('run', gateway.gateway.httpPort, WEBHOOK_CONNECTIONS);
      await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
    };
  });
  return figuresOf('text', costs, {});
}

/** To the acknowledgement. */
async function chat(stage: Stage): Promise<Figure[]> {
  const { paused, chat: load } = stage;
  const each = Math.ceil(150 * stage.share);
  const costs = await costsOf(stage, paused, each * CHAT_CLIENTS, async () => {
    await load.call('connect', paused.gateway.httpPort, CHAT_CLIENTS);
    return () => load.call('converse', each);
  });
  return figuresOf('chat, to the acknowledgement', costs, { ms: 0.09 });
}

/** A usual day: nothing to batch. Two mails, each on a connection of its own, to one text. */
async function steady(stage: Stage): Promise<Figure[]> {
  const { gateway, platform, emails, webhooks } = stage;
  const messages = Math.ceil(30_000 * stage.share);
  const [mails, texts] = [Math.ceil((messages * 2) / 3), Math.floor(messages / 3)];
  await emails.call('prepare', 'text', mails);
  await webhooks.call('prepare', texts);
  await platform.call('forget');
  const cost = await gateway.costOf(messages, async () => {
    await Promise.all([
      emails.call('steadily', gateway.gateway.smtpPort, 60),
      webhooks.call('steadily', gateway.gateway.httpPort, 30),
    ]);
    await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
  });
  return [
    ...figuresOf('steady 90 a second', [cost], { ms: 2.5 }),
    {
      what: 'steady 90 a second: resident MB after it',
      value: await gateway.residentMb(),
      atMost: 250,
    },
  ];
}

/** Measures repeatedly; the first round is a warm-up. */
async function inRounds(
  { rounds }: Stage,
  measure: (isMeasured: boolean) => Promise<void>,
): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) await measure(round > 0);
}

/** @param prepare what comes before the measurement; returns what is measured */
async function costsOf(
  stage: Stage,
  gateway: MeasuredGateway,
  messages: number,
  prepare: () => Promise<() => Promise<unknown>> | (() => Promise<unknown>),
): Promise<Cost[]> {
  const costs: Cost[] = [];
  await inRounds(stage, async (isMeasured) => {
    const cost = await gateway.costOf(messages, await prepare());
    if (isMeasured) costs.push(cost);
  });
  return costs;
}

/** The medians, in all threads and in each. */
function figuresOf(
  name: string,
  costs: readonly Cost[],
  goals: { readonly ms?: number; readonly mainMs?: number },
): Figure[] {
  const roles = [...(costs[0]?.byThread.keys() ?? [])];
  const of = (role: string) => median(costs.map(({ byThread }) => byThread.get(role) ?? 0));
  return [
    {
      what: `${name}: ms in all threads`,
      value: median(costs.map(({ ms }) => ms)),
      ...atMost(goals.ms),
    },
    ...roles
      .filter((role) => of(role) >= 0.005)
      .map((role) => ({
        what: `${name}:   ${role}`,
        value: of(role),
        ...(role === 'main' && atMost(goals.mainMs)),
      })),
    { what: `${name}: KB written`, value: median(costs.map(({ written }) => written)) / 1024 },
  ];
}

const atMost = (goal: number | undefined) => (goal === undefined ? {} : { atMost: goal });

/** What an email of 2 KB makes a gateway allocate and synchronize. Its garbage collections are logged. */
export async function counts(stage: Stage, gateway: MeasuredGateway): Promise<Figure[]> {
  const messages = Math.ceil(4000 * stage.share);
  const send = async () => {
    await stage.emails.call('prepare', 'text', messages);
    await carried(stage, gateway.gateway.smtpPort, messages);
  };
  await send();
  await gateway.rests();
  const before = allocatedMb(gateway.gateway.output());
  const counter = countFsyncs(gateway.gateway.pid);
  await send();
  await gateway.rests();
  const fsyncs = await counter.stop();
  const allocated = allocatedMb(gateway.gateway.output()) - before;
  return [
    { what: 'email 2 KB: KB of heap allocated', value: (allocated * 1024) / messages },
    ...(fsyncs === undefined ? [] : [{ what: 'email 2 KB: fsyncs', value: fsyncs / messages }]),
  ];
}

/** What a gateway costs that has nothing to do, once it has started. */
export async function atRest(gateway: MeasuredGateway, ms: number): Promise<Figure[]> {
  await gateway.rests();
  await delay(1000);
  return [
    { what: 'at rest: percent of a processor', value: await gateway.percentFor(ms), atMost: 0.3 },
    { what: 'at rest: resident MB', value: await gateway.residentMb(), atMost: 150 },
  ];
}
