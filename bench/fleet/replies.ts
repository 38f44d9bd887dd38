import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import { PostgresProxy, withoutNotifications } from '../../test/support/postgres-proxy.ts';
import { Dice } from '../../test/support/dice.ts';
import { type Figure, printFigures } from '../support/goals.ts';
import { percentile } from '../support/statistics.ts';
import type { Workbench } from '../support/workbench.ts';
import { type FleetGateway, startFleet } from './gateways.ts';
import { ReplyBoard, type ShownReply } from './reply-board.ts';
import { Asker, replyTo, Roamer } from './tabs.ts';

const GATEWAYS = 3;
const SAMPLES = 200;
const GROUPS = 2;
/** Their messages fill several pages of the platform's list. */
const GROUP = 30;
/** Of each, beside the first; the platform's agent gives ten replies in ten minutes. */
const QUESTIONS = 7;
const ROAMERS = 20;
const ROAMING_QUESTIONS = 8;
/** A person reads the reply and writes again, in milliseconds: up to. */
const THINKS = 1500;
/** At the 95th percentile. */
const WITHIN_MS = 1000;
const WITHIN_MS_UNHEARD = 6000;

const agent: Agent = {
  answer: ({ text }) => Promise.resolve({ text: replyTo(text), escalate: false }),
};

/**
 * Visitors with a tab at each of three gateways ask, and the platform shows each reply to one gateway alone. How long
 * until it is on the tabs at the others, with and without the database's notifications? Does a tab that
 * goes from gateway to gateway miss a line? Resolves with whether all goals are met.
 */
export async function replies(bench: Workbench, { seed }: { seed: number }): Promise<boolean> {
  console.log(
    'Times in ms. A sample is a reply at a tab whose gateway did not poll it: the platform shows each reply to one ' +
      'gateway only.',
  );
  const heard = await withFleet(bench, seed, false);
  const unheard = await withFleet(bench, seed + 1, true);
  return printFigures([...heard, ...unheard]);
}

async function withFleet(bench: Workbench, seed: number, isCut: boolean): Promise<Figure[]> {
  let withheld = 0;
  const pooler = async (url: string): Promise<string> => {
    const deaf = await PostgresProxy.start(url, () => (message) => {
      const passed = withoutNotifications(message);
      if (passed === undefined) withheld += 1;
      return passed;
    });
    bench.onEnd('pooler', () => deaf.stop());
    return deaf.url;
  };
  const fleet = await startFleet(bench, GATEWAYS, { agent, ...(isCut && { pooler }) });
  const board = new ReplyBoard(fleet.gateways.map(({ platformAddress }) => platformAddress));
  fleet.platform.rewriteMessages = (list, address) => board.shownTo(address, list);

  const times = await measureTimes(bench, fleet.gateways, board, seed);
  const roaming = await measureRoaming(bench, fleet.gateways, seed);
  for (const gateway of fleet.gateways) await gateway.end();
  const how = isCut ? 'LISTEN cut: ' : '';
  const named = (figures: readonly Figure[]) =>
    figures.map((figure) => ({ ...figure, what: `${how}${figure.what}` }));
  return named([
    { what: 'samples', value: times.fromPoll.length, atLeast: SAMPLES },
    ...(isCut ? [{ what: 'notifications kept back', value: withheld, atLeast: 1 }] : []),
    {
      what: 'from the answered poll to a tab at another gateway, 95th percentile',
      value: percentile(times.fromPoll, 0.95),
      atMost: isCut ? WITHIN_MS_UNHEARD : WITHIN_MS,
    },
    { what: '  median', value: percentile(times.fromPoll, 0.5) },
    { what: '  slowest', value: Math.max(...times.fromPoll) },
    { what: '  to a tab at the same gateway, median', value: percentile(times.atPoller, 0.5) },
    {
      what: 'from the creation to a tab at another gateway, 95th percentile',
      value: percentile(times.fromCreation, 0.95),
    },
    { what: '  median', value: percentile(times.fromCreation, 0.5) },
    { what: 'tabs that did not get the lines of the others', value: times.differing, atMost: 0 },
    { what: 'reconnects to the next gateway', value: roaming.reconnects, atLeast: SAMPLES },
    { what: '  lines that came meanwhile', value: roaming.lines, atLeast: SAMPLES },
    { what: '  lines missed, repeated or out of order', value: roaming.faults, atMost: 0 },
  ]);
}

interface Times {
  /** At tabs of gateways that did not poll the reply. */
  readonly fromPoll: number[];
  readonly fromCreation: number[];
  /** At the tab of the gateway that did, from the poll. */
  readonly atPoller: number[];
  differing: number;
}

async function measureTimes(
  bench: Workbench,
  gateways: readonly FleetGateway[],
  board: ReplyBoard,
  seed: number,
): Promise<Times> {
  const times: Times = { fromPoll: [], fromCreation: [], atPoller: [], differing: 0 };
  for (let group = 0; group < GROUPS; group += 1) {
    const askers = await openAskers(bench, gateways, GROUP, `visitor ${group}.`);
    await Promise.all(
      askers.map(async (asker, n) => {
        const dice = Dice.of(seed * 1000 + group * GROUP + n);
        for (let nth = 0; nth < QUESTIONS; nth += 1) {
          await delay(dice.below(THINKS));
          const text = await asker.ask();
          noteTimes(text, asker, board.replies.get(text), times);
        }
      }),
    );
    times.differing += askers.reduce((sum, each) => sum + each.differing, 0);
    for (const asker of askers) asker.close();
  }
  return times;
}

function noteTimes(text: string, asker: Asker, reply: ShownReply | undefined, times: Times): void {
  const { polledAt = Number.NaN, createdAt = Number.NaN, poller } = reply ?? {};
  for (const { door, arrivals } of asker.tabs) {
    const at = arrivals.get(text) ?? Number.NaN;
    if (door.platformAddress === poller) {
      times.atPoller.push(at - polledAt);
    } else {
      times.fromPoll.push(at - polledAt);
      times.fromCreation.push(at - createdAt);
    }
  }
}

async function measureRoaming(
  bench: Workbench,
  gateways: readonly FleetGateway[],
  seed: number,
): Promise<{ reconnects: number; lines: number; faults: number }> {
  const askers = await openAskers(bench, gateways, ROAMERS, 'roaming visitor ');
  const sums = { reconnects: 0, lines: 0, faults: 0 };
  await Promise.all(
    askers.map(async (asker, n) => {
      const dice = Dice.of(seed * 1000 + 500 + n);
      const before = asker.lines.length;
      const over = new AbortController();
      const roamer = new Roamer(asker, gateways, dice);
      const roaming = roamer.roam(over.signal);
      for (let nth = 0; nth < ROAMING_QUESTIONS; nth += 1) await asker.ask();
      over.abort();
      await roaming;
      sums.faults += await roamer.faults();
      sums.reconnects += roamer.reconnects;
      sums.lines += asker.lines.length - before;
    }),
  );
  for (const asker of askers) asker.close();
  return sums;
}

/** Each has asked once: their conversations exist. */
async function openAskers(
  bench: Workbench,
  gateways: readonly FleetGateway[],
  count: number,
  kind: string,
): Promise<Asker[]> {
  const opening = Array.from({ length: count }, async (_, n) => {
    const asker = await Asker.open(`${kind}${n}`, gateways);
    bench.onEnd('tabs', () => asker.close());
    await asker.ask();
    return asker;
  });
  return Promise.all(opening);
}
