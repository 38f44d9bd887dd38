import type { EmailKind } from '../load/email-messages.ts';
import type { MeasuredProcess } from './measured-process.ts';
import { requirePassed } from './passed-checks.ts';
import type { Goal } from './report.ts';
import type { Scenario } from './scenarios.ts';
import type { Stage } from './stage.ts';
import { measureInTurns, ratiosOf, roundsOf, rowsOf, type Side } from './turns.ts';

const TRUSTED = 'Sluice, from a relay';
const OUTSIDE = 'Sluice, from outside, signed';
const BRIDGE = 'naive bridge';
const TWO_BRIDGES = 'naive bridge, 2 processes';
const CONNECTIONS = 32;
const DELIVERED_WITHIN_MS = 300_000;

/** The least messages a second, as a part of the naive bridge's. */
const SIZES: readonly { name: string; kind: EmailKind; usual: number; atLeast: number }[] = [
  { name: '2 KB', kind: 'text', usual: 4000, atLeast: 0.9 },
  { name: '30 KB, newsletter', kind: 'newsletter', usual: 1500, atLeast: 1.3 },
  { name: '1 MB, attachment', kind: 'attachment', usual: 200, atLeast: 1.1 },
];

/**
 * Emails from the sender to the platform, from a relay that is trusted and from outside: signed
 * (RSA 2048), with SPF, DKIM and DMARC checked. Beside a bridge that stores and checks nothing, in
 * one process and in two behind one port.
 */
export const DELIVER_EMAILS: readonly Scenario[] = SIZES.map(({ name, kind, usual, atLeast }) => ({
  name: `email ${name}, to the platform`,
  run: async (stage, scenario) => {
    const messages = stage.messages(usual);
    const sides = await sidesOf(stage, kind, messages);
    const { gateway } = await stage.outside();
    const measured = await requirePassed(gateway, messages * (stage.rounds + 1), () =>
      measureInTurns(scenario, stage.rounds, sides),
    );
    return {
      scenario,
      columns: sides.map((side) => side.name),
      rows: rowsOf(measured, [BRIDGE, TWO_BRIDGES]),
      goals: [
        ...(kind === 'text' ? timesOf(scenario, measured) : []),
        {
          what: `${scenario}: messages a second ÷ naive bridge`,
          rounds: ratiosOf(measured, TRUSTED, BRIDGE),
          atLeast,
        },
      ],
    };
  },
}));

async function sidesOf(stage: Stage, kind: EmailKind, messages: number): Promise<Side[]> {
  const emails = await stage.emails();
  const signed = await stage.signed();
  const side = (
    name: string,
    process: MeasuredProcess,
    port: number,
    prepare: () => Promise<void>,
  ): Side => ({
    ...{ name, process, messages },
    prepare: async () => {
      await prepare();
      return () => carried(stage, port, messages);
    },
  });
  const plain = (): Promise<void> => emails.call('prepare', kind, messages);
  const signedOnes = async (): Promise<void> =>
    emails.call('take', await signed.call('make', kind, messages));
  const [trusted, outside] = [await stage.trusted(), await stage.outside()];
  const [bridge, twoBridges] = [await stage.bridge(), await stage.twoBridges()];
  return [
    side(TRUSTED, trusted.process, trusted.gateway.smtpPort, plain),
    side(OUTSIDE, outside.process, outside.gateway.smtpPort, signedOnes),
    side(BRIDGE, bridge.process, bridge.port, plain),
    side(TWO_BRIDGES, twoBridges.process, twoBridges.port, plain),
  ];
}

/** Sends what is prepared, and waits until the platform has it. Returns messages a second. */
async function carried(stage: Stage, port: number, messages: number): Promise<number> {
  const platform = await stage.platform();
  await platform.call('forget');
  const { startedAt } = await (await stage.emails()).call('run', port, CONNECTIONS);
  const last = await platform.call('whenCount', messages, DELIVERED_WITHIN_MS);
  return messages / ((last - startedAt) / 1000);
}

function timesOf(scenario: string, measured: Parameters<typeof roundsOf>[0]): Goal[] {
  const sources = [
    { name: TRUSTED, atMost: 1.5 },
    { name: OUTSIDE, atMost: 2 },
  ];
  return sources.flatMap(({ name, atMost }) => [
    {
      what: `${scenario}: ${name}: ms in all threads`,
      rounds: roundsOf(measured, name, ({ ms }) => ms),
      atMost,
    },
    {
      what: `${scenario}: ${name}: ms in the main thread`,
      rounds: roundsOf(measured, name, ({ msByThread }) => msByThread.get('main') ?? NaN),
      atMost: 0.35,
    },
  ]);
}
