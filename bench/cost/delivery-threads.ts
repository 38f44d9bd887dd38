import type { Scenario } from './scenarios.ts';
import { measureInTurns, ratiosOf, roundsOf, rowsOf, type Side } from './turns.ts';

const SHOPS = 8;
const MESSAGES = 4000;
const CONNECTIONS = 32;
const DELIVERED_WITHIN_MS = 300_000;
/** Noise between two sides of one run. */
const MAIN_AT_MOST = 1.1;
const THROUGHPUT_AT_LEAST = 0.95;

const nameOf = (threads: number): string => `${threads} thread${threads === 1 ? '' : 's'}`;

/** Emails of 2 KB for several shops, delivered in one, two and four threads (`delivery.threads`). */
export const DELIVERY_THREADS: Scenario = {
  name: 'email 2 KB of 8 shops, delivered in 1, 2 and 4 threads',
  run: async (stage, scenario) => {
    const messages = stage.messages(MESSAGES);
    const emails = await stage.emails();
    const platform = await stage.platform();
    const sides: Side[] = [];
    for (const deliveryThreads of [1, 2, 4]) {
      const { gateway, process } = await stage.newGateway({
        deliveryThreads,
        moreShops: SHOPS - 1,
      });
      sides.push({
        ...{ name: nameOf(deliveryThreads), process, messages },
        prepare: async () => {
          await emails.call('prepare', 'text', messages, SHOPS);
          return async () => {
            await platform.call('forget');
            const { startedAt } = await emails.call('run', gateway.smtpPort, CONNECTIONS);
            const last = await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
            return messages / ((last - startedAt) / 1000);
          };
        },
      });
    }
    const measured = await measureInTurns(scenario, stage.rounds, sides);
    const mainOf = (name: string) =>
      roundsOf(measured, name, ({ msByThread }) => msByThread.get('main') ?? NaN);
    const one = mainOf(nameOf(1));
    return {
      scenario,
      columns: sides.map(({ name }) => name),
      rows: rowsOf(measured, [nameOf(1)]),
      goals: [2, 4].flatMap((threads) => [
        {
          what: `${scenario}: main thread, ${nameOf(threads)} ÷ 1`,
          rounds: mainOf(nameOf(threads)).map((ms, round) => ms / (one[round] ?? NaN)),
          atMost: MAIN_AT_MOST,
        },
        {
          what: `${scenario}: messages a second, ${nameOf(threads)} ÷ 1`,
          rounds: ratiosOf(measured, nameOf(threads), nameOf(1)),
          atLeast: THROUGHPUT_AT_LEAST,
        },
      ]),
    };
  },
};
