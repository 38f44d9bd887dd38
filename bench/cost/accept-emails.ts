import { isPostfixInstalled } from '../support/postfix.ts';
import { runSmtpSource, type SmtpLoad } from '../support/smtp-source.ts';
import type { Scenario } from './scenarios.ts';
import type { MeasuredGateway, Stage } from './stage.ts';
import { measureInTurns, ratiosOf, rowsOf, type Side } from './turns.ts';

const PAUSED = 'Sluice';
const DELIVERING = 'Sluice, delivering';
const CHECKING = 'Sluice, delivering, senders checked';
const POSTFIX = 'Postfix, hold queue';
const BARE = 'bare smtp-server';
const DELIVERED_WITHIN_MS = 300_000;
const LARGE_BYTES = 1024 ** 2;

/** The least messages a second, as a part of Postfix's. */
const LOADS: readonly { name: string; usual: number; load: Shape; atLeast: number }[] = [
  {
    ...{ name: '2 KB, reused connections', usual: 10_000, atLeast: 5 },
    load: { sessions: 50, bytes: 2048, reuse: true },
  },
  {
    ...{ name: '2 KB, a connection each', usual: 5000, atLeast: 2.2 },
    load: { sessions: 50, bytes: 2048, reuse: false },
  },
  {
    ...{ name: '1 MB, reused connections', usual: 300, atLeast: 1.2 },
    load: { sessions: 10, bytes: LARGE_BYTES, reuse: true },
  },
];

type Shape = Omit<SmtpLoad, 'messages'>;

/**
 * Emails to the acknowledgement, which says that they are durable. Beside a real Postfix that puts
 * them on hold, and beside the SMTP library alone, which stores nothing. Once more while they are
 * delivered, and while SPF and DMARC of their senders are looked up as well; the time of those
 * columns is that until the platform has them.
 */
export const ACCEPT_EMAILS: readonly Scenario[] = LOADS.map(({ name, usual, load, atLeast }) => ({
  name: `email ${name}, accepted`,
  run: async (stage, scenario) => {
    const goal = { what: `${scenario}: messages a second ÷ Postfix`, atLeast };
    if (!isPostfixInstalled()) {
      console.error(`${scenario}: left out, because Postfix is not installed`);
      return { scenario, columns: [], rows: [], goals: [{ ...goal, rounds: [] }] };
    }
    const sides = await sidesOf(stage, load, stage.messages(usual));
    const measured = await measureInTurns(scenario, stage.rounds, sides);
    return {
      scenario,
      columns: sides.map((side) => side.name),
      rows: rowsOf(measured, [POSTFIX, BARE]),
      goals: [{ ...goal, rounds: ratiosOf(measured, PAUSED, POSTFIX) }],
    };
  },
}));

async function sidesOf(stage: Stage, shape: Shape, usual: number): Promise<Side[]> {
  const [postfix, bare] = [await stage.postfix(), await stage.bareSmtp()];
  const { gateway, process } = await stage.paused();
  // Postfix needs about as long for a quarter of the messages as the others for all, and a backlog of one sender's
  // messages takes its time to be delivered.
  const fewer = shape.bytes < LARGE_BYTES ? Math.ceil(usual / 4) : usual;
  const send = async (port: number, messages: number): Promise<number> =>
    messages / (await runSmtpSource(port, { ...shape, messages }));
  return [
    {
      ...{ name: PAUSED, process, messages: usual },
      prepare: () => Promise.resolve(() => send(gateway.smtpPort, usual)),
    },
    delivering(DELIVERING, stage, await stage.trusted(), fewer, send),
    delivering(CHECKING, stage, await stage.outside(), fewer, send),
    {
      ...{ name: POSTFIX, process: postfix.process, messages: fewer },
      prepare: async () => {
        await postfix.clear();
        return () => send(postfix.port, fewer);
      },
    },
    {
      ...{ name: BARE, process: bare.process, messages: usual },
      prepare: () => Promise.resolve(() => send(bare.port, usual)),
    },
  ];
}

/** Measures during delivery, then waits for the rest, so that no measurement has a backlog. */
function delivering(
  name: string,
  stage: Stage,
  { gateway, process }: MeasuredGateway,
  messages: number,
  send: (port: number, messages: number) => Promise<number>,
): Side {
  return {
    ...{ name, process, messages },
    prepare: async () => {
      const platform = await stage.platform();
      await platform.call('forget');
      return async () => {
        const perSecond = await send(gateway.smtpPort, messages);
        await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
        return perSecond;
      };
    },
  };
}
