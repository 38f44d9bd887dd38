import type { MeasuredProcess } from './measured-process.ts';
import type { Scenario } from './scenarios.ts';
import type { Stage } from './stage.ts';
import { measureInTurns, ratiosOf, roundsOf, rowsOf, type Side } from './turns.ts';

const PAUSED = 'Sluice';
const DELIVERING = 'Sluice, delivering';
const BARE_EXPRESS = 'bare express';
const BARE_SOCKET_IO = 'bare socket.io';
const WEBHOOK_CONNECTIONS = 50;
const CHAT_CLIENTS = 100;
const DELIVERED_WITHIN_MS = 300_000;

/** One that sends what was prepared, and returns the seconds until the last acknowledgement. */
type Send = (port: number, messages: number) => Promise<() => Promise<number>>;

/**
 * Texts to the acknowledgement, which says that they are durable; and while they are delivered, with the time until the
 * platform has them. Beside an express route that checks the signature and stores nothing.
 */
const TEXTS: Scenario = {
  name: 'SMS webhook',
  run: async (stage, scenario) => {
    const webhooks = await stage.webhooks();
    const send: Send = async (port, messages) => {
      await webhooks.call('prepare', messages);
      return async () => (await webhooks.call('run', port, WEBHOOK_CONNECTIONS)).seconds;
    };
    const bare = { name: BARE_EXPRESS, ...(await stage.bareWebhook()) };
    const sides = await sidesOf(stage, stage.messages(6000), bare, send);
    const measured = await measureInTurns(scenario, stage.rounds, sides);
    return {
      scenario,
      columns: sides.map(({ name }) => name),
      rows: rowsOf(measured, [BARE_EXPRESS]),
      goals: [
        {
          what: `${scenario}: messages a second ÷ bare express`,
          rounds: ratiosOf(measured, PAUSED, BARE_EXPRESS),
          atLeast: 0.9,
        },
      ],
    };
  },
};

/** Chat messages to the acknowledgement, in the same way, beside socket.io alone. */
const CHAT: Scenario = {
  name: 'chat message',
  run: async (stage, scenario) => {
    const chat = await stage.chat();
    const total = stage.messages(15_000);
    const each = Math.ceil(total / CHAT_CLIENTS);
    const clients = Math.ceil(total / each);
    const send: Send = async (port) => {
      await chat.call('connect', port, clients);
      return async () => (await chat.call('converse', each)).seconds;
    };
    const bare = { name: BARE_SOCKET_IO, ...(await stage.bareChat()) };
    const sides = await sidesOf(stage, clients * each, bare, send);
    const measured = await measureInTurns(scenario, stage.rounds, sides);
    return {
      scenario,
      columns: sides.map(({ name }) => name),
      rows: rowsOf(measured, [BARE_SOCKET_IO]),
      goals: [
        {
          what: `${scenario}: µs to the acknowledgement, all threads`,
          rounds: roundsOf(measured, PAUSED, ({ ms }) => ms * 1000),
          atMost: 90,
        },
      ],
    };
  },
};

export const TEXTS_AND_CHAT: readonly Scenario[] = [TEXTS, CHAT];

async function sidesOf(
  stage: Stage,
  messages: number,
  bare: { readonly name: string; readonly port: number; readonly process: MeasuredProcess },
  send: Send,
): Promise<Side[]> {
  const [paused, delivering] = [await stage.paused(), await stage.trusted()];
  const platform = await stage.platform();
  const toAcknowledgement = (name: string, process: MeasuredProcess, port: number): Side => ({
    ...{ name, process, messages },
    prepare: async () => {
      const sent = await send(port, messages);
      return async () => messages / (await sent());
    },
  });
  return [
    toAcknowledgement(PAUSED, paused.process, paused.gateway.httpPort),
    {
      ...{ name: DELIVERING, process: delivering.process, messages },
      prepare: async () => {
        await platform.call('forget');
        const sent = await send(delivering.gateway.httpPort, messages);
        return async () => {
          const perSecond = messages / (await sent());
          await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
          return perSecond;
        };
      },
    },
    toAcknowledgement(bare.name, bare.process, bare.port),
  ];
}
