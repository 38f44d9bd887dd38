import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../support/statistics.ts';
import { requirePassed } from './passed-checks.ts';
import type { Scenario } from './scenarios.ts';
import type { Baseline, MeasuredGateway, Stage } from './stage.ts';
import { measureInTurns, roundsOf, rowsOf, type Side } from './turns.ts';

const RELAYED = 'Sluice, mail from a relay';
const SIGNED = 'Sluice, mail from outside, signed';
const BRIDGE = 'naive bridge, the mails alone';
const MAILS_PER_SECOND = 60;
const TEXTS_PER_SECOND = 30;
const STEADY_MESSAGES = 30_000;
const DELIVERED_WITHIN_MS = 300_000;
const REST_MS = 30_000;
/** For so long after a start V8 still collects its garbage, bit by bit. */
const GARBAGE_OF_START_MS = 45_000;

/**
 * A usual day, on which there is nothing to batch: two mails, each on a connection of its own, to one text. The
 * gateways are new, so that they have carried no more than these messages when their memory is measured.
 */
const STEADY: Scenario = {
  name: 'steady 90 a second, to the platform',
  run: async (stage, scenario) => {
    // The warm-up carries its part as well.
    const messages = Math.ceil(stage.messages(STEADY_MESSAGES) / (stage.rounds + 1));
    const relayed = await stage.newGateway();
    const signed = await stage.newGateway({ strangers: true });
    const sides = [
      steadily(RELAYED, stage, relayed, messages, false),
      steadily(SIGNED, stage, signed, messages, true),
      mailsThroughBridge(stage, await stage.bridge(), messages),
    ];
    const emails = mailsOf(messages) * (stage.rounds + 1);
    const measured = await requirePassed(signed.gateway, emails, () =>
      measureInTurns(scenario, stage.rounds, sides),
    );
    const resident = [await relayed.process.residentMb(), await signed.process.residentMb()];
    await Promise.all([relayed.gateway.stop(), signed.gateway.stop()]);
    const after = `resident MB after ${(messages * (stage.rounds + 1)).toLocaleString('en-US')}`;
    return {
      scenario,
      columns: sides.map(({ name }) => name),
      rows: [...rowsOf(measured, []), { what: after, values: resident }],
      goals: [
        {
          what: `${scenario}: ${RELAYED}: ms in all threads`,
          rounds: roundsOf(measured, RELAYED, ({ ms }) => ms),
          atMost: 2.5,
        },
        {
          what: `${scenario}: ${RELAYED}: ${after}`,
          rounds: resident.slice(0, 1),
          atMost: 250,
        },
      ],
    };
  },
};

const mailsOf = (messages: number): number =>
  Math.ceil((messages * MAILS_PER_SECOND) / (MAILS_PER_SECOND + TEXTS_PER_SECOND));

function steadily(
  name: string,
  stage: Stage,
  { gateway, process }: MeasuredGateway,
  messages: number,
  isSigned: boolean,
): Side {
  const mails = mailsOf(messages);
  return {
    ...{ name, process, messages },
    prepare: async () => {
      const [platform, emails] = [await stage.platform(), await stage.emails()];
      const webhooks = await stage.webhooks();
      if (isSigned) {
        await emails.call('take', await (await stage.signed()).call('make', 'text', mails));
      } else {
        await emails.call('prepare', 'text', mails);
      }
      await webhooks.call('prepare', messages - mails);
      await platform.call('forget');
      return async () => {
        const startedAt = performance.now();
        await Promise.all([
          emails.call('steadily', gateway.smtpPort, MAILS_PER_SECOND),
          webhooks.call('steadily', gateway.httpPort, TEXTS_PER_SECOND),
        ]);
        await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
        return messages / ((performance.now() - startedAt) / 1000);
      };
    },
  };
}

/** What the same mails cost a bridge that keeps nothing, at the same pace. */
function mailsThroughBridge(stage: Stage, { process, port }: Baseline, messages: number): Side {
  const mails = mailsOf(messages);
  return {
    ...{ name: BRIDGE, process, messages: mails },
    prepare: async () => {
      const [platform, emails] = [await stage.platform(), await stage.emails()];
      await emails.call('prepare', 'text', mails);
      await platform.call('forget');
      return async () => {
        const startedAt = performance.now();
        await emails.call('steadily', port, MAILS_PER_SECOND);
        await platform.call('whenCount', mails, DELIVERED_WITHIN_MS);
        return mails / ((performance.now() - startedAt) / 1000);
      };
    },
  };
}

/** A start with an empty data folder, and what the gateway costs while nothing arrives. */
const START_AND_REST: Scenario = {
  name: 'start and rest',
  run: async (stage, scenario) => {
    const [seconds, percent, resident]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < stage.rounds; round += 1) {
      const { gateway, process, startSeconds } = await stage.newGateway();
      seconds.push(startSeconds);
      await process.rests();
      await delay(GARBAGE_OF_START_MS);
      percent.push(await process.percentFor(REST_MS));
      resident.push(await process.residentMb());
      await gateway.stop();
      console.error(`${scenario}: ${startSeconds.toFixed(2)} s (round ${round + 1})`);
    }
    const figures = [
      { what: 'a start, from `serve` to ready, s', rounds: seconds, atMost: 1 },
      { what: 'at rest: percent of a core', rounds: percent, atMost: 0.3 },
      { what: 'at rest: resident MB', rounds: resident, atMost: 150 },
    ];
    return {
      scenario,
      columns: ['Sluice'],
      rows: figures.map(({ what, rounds }) => ({ what, values: [median(rounds)] })),
      goals: figures,
    };
  },
};

export const WHOLE_DAY: readonly Scenario[] = [STEADY, START_AND_REST];
