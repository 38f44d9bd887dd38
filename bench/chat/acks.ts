import type * as BareChat from '../baselines/bare-chat.ts';
import type * as ChatLoad from '../load/chat.ts';
import type * as FastPlatform from '../platform/fast-platform.ts';
import { startGateway } from '../support/gateway.ts';
import type { Part } from '../support/part.ts';
import { processSeconds } from '../support/process-time.ts';
import { type Contender, printProgress, ratioOf, takeTurns } from '../support/rounds.ts';
import { median } from '../support/statistics.ts';
import type { Workbench } from '../support/workbench.ts';
import type { Line } from './lines.ts';

export interface AckOptions {
  readonly quick: boolean;
  /** Number of load generator processes. */
  readonly generators: number;
  readonly profile: string | undefined;
}

const AT_LEAST = 0.75;
const CLIENTS = [100, 1000];
const MESSAGES = 20_000;
const SLUICE = 'Sluice';
const BARE = 'bare socket.io';
const WITH_LINES = 'bare socket.io, sending the line';

type Generators = readonly Part<typeof ChatLoad>[];

/** Further figures of one side; one per round, including the warm-up. */
interface Costs {
  readonly p99Ms: number[];
  readonly serverMicros: number[];
  readonly loadMicros: number[];
}

/**
 * Measures durable acknowledgements per second, compared with a server that stores nothing: once
 * plain socket.io, and once with the line that the chat protocol sends with each acknowledgement,
 * which is the upper limit for any server of this protocol on this machine.
 */
export async function measureAcks(bench: Workbench, options: AckOptions): Promise<Line[]> {
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('../platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const { profile } = options;
  const gateway = await startGateway(bench, {
    platformUrl: await platform.call('url'),
    paused: true,
    ...(profile !== undefined && { profileInto: profile }),
  });
  const bareChat = (sendsLines: boolean) =>
    bench.part<typeof BareChat>(at('../baselines/bare-chat.ts'), { sendsLines });
  const bare = await bareChat(false);
  const bareWithLines = await bareChat(true);
  const generators: Part<typeof ChatLoad>[] = [];
  while (generators.length < options.generators) {
    generators.push(await bench.part<typeof ChatLoad>(at('../load/chat.ts'), undefined));
  }

  const lines: Line[] = [];
  for (const clients of CLIENTS) {
    const messages = options.quick ? MESSAGES / 10 : MESSAGES;
    const load = { clients, each: Math.max(1, Math.ceil(messages / clients)) };
    const sides = [
      side(SLUICE, gateway.pid, gateway.httpPort, generators, load),
      side(BARE, bare.pid, await bare.call('port'), generators, load),
      side(WITH_LINES, bareWithLines.pid, await bareWithLines.call('port'), generators, load),
    ];
    const name = `${clients} clients`;
    const rounds = options.quick ? 1 : 5;
    const measured = await takeTurns(
      sides.map(({ contender }) => contender),
      rounds,
      printProgress(name),
    );
    const ratio = ratioOf(measured, SLUICE, BARE);
    const figures = (of: (costs: Costs) => number[], unit: string): string[] =>
      sides.map(({ costs }) => `${median(of(costs).slice(1)).toFixed(0)} ${unit}`);
    const [perSecond, barePerSecond, withLines] = measured.map(
      (each) => `${each.perSecond.toFixed(0)}/s`,
    );
    const [p99, bareP99] = figures(({ p99Ms }) => p99Ms, 'ms');
    const [server, bareServer] = figures(({ serverMicros }) => serverMicros, 'µs');
    const [generator, bareGenerator] = figures(({ loadMicros }) => loadMicros, 'µs');
    const pair = (sluice = '', other = '') => ({ sluice, bare: other });
    lines.push(
      {
        ...{ what: `acks, ${name}`, ...pair(perSecond, barePerSecond) },
        goal: `${ratio.toFixed(2)} x, goal ${AT_LEAST} x`,
        met: ratio >= AT_LEAST,
      },
      {
        what: '  the same packets, nothing kept',
        ...pair('', withLines),
        goal: `${ratioOf(measured, WITH_LINES, BARE).toFixed(2)} x`,
      },
      { what: '  99th percentile', ...pair(p99, bareP99) },
      { what: '  processor time of the server, each', ...pair(server, bareServer) },
      { what: '  of the generators, each', ...pair(generator, bareGenerator) },
    );
  }
  await gateway.stop();
  for (const part of [bare, bareWithLines, platform, ...generators]) await part.stop();
  return lines;
}

function side(
  name: string,
  pid: number,
  port: number,
  generators: Generators,
  { clients, each }: { clients: number; each: number },
): { contender: Contender; costs: Costs } {
  const costs: Costs = { p99Ms: [], serverMicros: [], loadMicros: [] };
  const share = Math.ceil(clients / generators.length);
  const messages = share * generators.length * each;
  const measure = async (): Promise<number> => {
    // All clients connect before the measurement starts.
    for (const generator of generators) await generator.call('connect', port, share);
    const before = await processSeconds(pid);
    const runs = await Promise.all(generators.map((generator) => generator.call('converse', each)));
    const spent = (await processSeconds(pid)) - before;
    costs.p99Ms.push(Math.max(...runs.map(({ p99Ms }) => p99Ms)));
    costs.serverMicros.push((spent / messages) * 1e6);
    costs.loadMicros.push(
      (runs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / messages) * 1e6,
    );
    return messages / Math.max(...runs.map(({ seconds }) => seconds));
  };
  return { contender: { name, measure }, costs };
}
