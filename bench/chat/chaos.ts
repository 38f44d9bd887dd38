import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import type { Fault } from '../../src/local-platform/respond.ts';
import {
  createLocalPlatform,
  type LocalPlatform,
} from '../../src/local-platform/local-platform.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { type ChatVisitor, HeadlessVisitor } from '../../test/support/chat-visitors.ts';
import { ACME, CHAT_KEY } from '../../test/support/gateway-config.ts';
import { WidgetVisitor } from '../../test/support/widget-visitor.ts';
import { LossyProxy } from '../../test/support/lossy-proxy.ts';
import { randomFaults, seededRandom } from '../../test/support/random-faults.ts';
import { GatewayThatDies } from '../crash/gateway-that-dies.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import { converse, type Person } from './people.ts';
import { correspondenceOf, violationsOf } from './verdict.ts';

export interface ChaosOptions {
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
  readonly restarts: number;
  /** The mean time between two steps of a visitor. */
  readonly meanPauseMs: number;
  /** The mean time between two disturbances of one connection. */
  readonly meanCalmMs: number;
  readonly maxStallMs: number;
  /** The share of the platform's answers that are faults. */
  readonly faultShare: number;
  /** The time limit for everything to arrive after the disturbances. */
  readonly settleWithinMs: number;
  readonly onProgress: (line: string) => void;
}

export interface ChaosReport {
  /** Visitors whose tabs run the widget's engine; the others use a test client. */
  readonly widgets: number;
  readonly acknowledged: number;
  readonly replies: number;
  readonly tabs: number;
  readonly connections: number;
  readonly troubles: ReadonlyMap<string, number>;
  readonly platformFaults: ReadonlyMap<string, number>;
  readonly restarts: readonly string[];
  readonly settleSeconds: number;
  /** Empty if everything arrived exactly once, in order, without gaps. */
  readonly violations: readonly string[];
}

const PLATFORM_FAULTS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429 },
  { kind: 'reset' },
  { kind: 'reset-after-commit' },
];
/** A duplicate would arrive with one of the next reads. */
const AFTERMATH_MS = 2_500;
/** Every third visitor has two tabs. */
const TABS_EVERY = 3;
/** The tabs of every fourth visitor run the widget's engine. */
const WIDGET_EVERY = 4;

/**
 * Visitors talk to an agent over unreliable connections while the gateway is killed and stopped.
 * Then the disturbances end, and everyone must have every message once and in order.
 */
export async function chaos(bench: Workbench, options: ChaosOptions): Promise<ChaosReport> {
  const { clients, seed, onProgress } = options;
  const random = seededRandom(seed);
  const folder = await bench.folder();
  const faults = randomFaults(seededRandom(seed + 1), options.faultShare, PLATFORM_FAULTS);
  const platform = await startPlatform(bench, folder, faults.hook, seededRandom(seed + 2));
  const gateway = await GatewayThatDies.start(bench, join(folder, 'data'), platform.url);
  const proxy = await LossyProxy.start({
    target: { host: gateway.host, port: gateway.httpPort },
    ...{ seed: seed + 3, meanCalmMs: options.meanCalmMs, maxStallMs: options.maxStallMs },
  });
  bench.onEnd('proxy', () => proxy.stop());

  const stop = new AbortController();
  // Every visitor adds a listener, which is not a leak.
  setMaxListeners(0, stop.signal);
  bench.onEnd('visitors', () => stop.abort());
  const people: Person[] = [];
  for (let n = 0; n < clients; n += 1) {
    const line = { url: proxy.url, key: CHAT_KEY, ackTimeoutMs: 3_000 };
    const isWidget = n % WIDGET_EVERY === 0;
    const visitor = isWidget ? await WidgetVisitor.create(line) : new HeadlessVisitor(line);
    bench.onEnd('visitor', () => visitor.close());
    const likesTabs = n % TABS_EVERY === 0;
    people.push({ name: `v${n}`, visitor, random: seededRandom(seed * 1000 + n), likesTabs });
  }
  const evening = { meanPauseMs: options.meanPauseMs, stopped: stop.signal };
  const talking = Promise.all(people.map((person) => converse(person, evening)));
  // Awaited below, which an earlier failure may prevent.
  talking.catch(() => undefined);

  const restarts = await restartAtTimes(gateway, options, random);
  stop.abort();
  await talking;
  proxy.calm();
  await gateway.ready();
  onProgress('the line is good again; waiting until everyone has everything');
  const started = performance.now();
  const visitors = people.map(({ visitor }) => visitor);
  const told = (what: string): void =>
    onProgress(`${what} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  const unsettled = await settle(platform, visitors, options.settleWithinMs, told);
  const settleSeconds = (performance.now() - started) / 1000;
  await delay(AFTERMATH_MS);

  const stored = platform.inspect.messages(ACME.shopId);
  const of = correspondenceOf(stored);
  return {
    widgets: count(visitors, (visitor) => Number(visitor instanceof WidgetVisitor)),
    acknowledged: count(visitors, ({ said }) => said.filter(({ seq }) => seq !== undefined).length),
    replies: stored.filter(({ role }) => role === 'agent').length,
    tabs: count(visitors, ({ tabs }) => tabs.length),
    ...{ connections: proxy.connections, troubles: proxy.counts, restarts, settleSeconds },
    platformFaults: faults.counts,
    violations: [
      ...unsettled,
      ...visitors.flatMap((visitor) => violationsOf(visitor, of(visitor.visitorId))),
    ],
  };
}

/** Starts a platform whose agent repeats each message after a delay. */
async function startPlatform(
  bench: Workbench,
  folder: string,
  faults: ReturnType<typeof randomFaults>['hook'],
  random: () => number,
): Promise<LocalPlatform> {
  const agent: Agent = {
    answer: async ({ text }) => {
      await delay(random() * 100);
      return { text: `You said: ${text}`, escalate: false };
    },
  };
  const platform = createLocalPlatform({
    ...{ dir: join(folder, 'platform'), host: '127.0.0.1', port: 0, shops: [ACME] },
    ...{ logger: silentLogger, agent: { kind: 'custom', agent }, faults },
  });
  bench.onEnd('platform', () => platform.stop());
  await platform.start();
  return platform;
}

/** Each restart happens at a random time in its own part of the run, by a random signal. */
async function restartAtTimes(
  gateway: GatewayThatDies,
  { seconds, restarts, onProgress }: ChaosOptions,
  random: () => number,
): Promise<string[]> {
  const deadline = performance.now() + seconds * 1000;
  const partMs = (seconds * 1000) / (restarts + 0.5);
  const done: string[] = [];
  for (let nth = 0; nth < restarts; nth += 1) {
    await delay((0.4 + 0.5 * random()) * partMs);
    const signal = random() < 0.5 ? 'SIGKILL' : 'SIGTERM';
    onProgress(`restart ${nth + 1} of ${restarts}: ${signal}`);
    const started = performance.now();
    await gateway.restart(signal);
    await gateway.ready();
    done.push(`${signal} (back after ${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }
  await delay(Math.max(0, deadline - performance.now()));
  return done;
}

/** Waits until nothing is in transit. @returns what still was after the time limit */
async function settle(
  platform: LocalPlatform,
  visitors: readonly ChatVisitor[],
  withinMs: number,
  onDone: (what: string) => void,
): Promise<string[]> {
  const until = performance.now() + withinMs;
  const within = (): number => Math.max(0, until - performance.now());
  const messages = () => platform.inspect.messages(ACME.shopId);
  const steps: [string, () => boolean][] = [
    ['every message to be acknowledged', () => visitors.every(({ isSettled }) => isSettled)],
    [
      'every message to be at the platform',
      () =>
        messages().filter(({ role }) => role === 'customer').length >=
        count(visitors, ({ said }) => said.length),
    ],
    [
      'every message to be answered',
      () => messages().every(({ unanswered, status }) => unanswered === 0 && status !== 'PENDING'),
    ],
    [
      'every tab to show everything',
      () => {
        const of = correspondenceOf(messages());
        return visitors.every(({ visitorId, said, tabs }) => {
          const lines = said.length + of(visitorId).replies.length;
          return tabs.every(({ shown }) => shown.length >= lines);
        });
      },
    ],
  ];
  const late: string[] = [];
  for (const [what, isDone] of steps) {
    try {
      await waitUntil(what, within(), () => isDone() || undefined);
      onDone(`done: ${what}`);
    } catch (error) {
      late.push(error instanceof Error ? error.message : String(error));
    }
  }
  return late;
}

const count = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

/** The report as text, for people or for a failed test. */
export function describe(report: ChaosReport): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([what, times]) => `${what} ${times}`).join(', ');
  const { violations } = report;
  return [
    `acknowledged    ${report.acknowledged} messages`,
    `replies         ${report.replies}`,
    `tabs            ${report.tabs} at the end; ${report.widgets} visitors use the widget's engine`,
    `connections     ${report.connections}; ${list(report.troubles)}`,
    `platform        ${list(report.platformFaults)}`,
    `restarts        ${report.restarts.join(', ')}`,
    `settled         ${report.settleSeconds.toFixed(1)} s after the line was good again`,
    violations.length === 0
      ? 'violations      0: exactly once, in order, without gaps'
      : `violations      ${violations.length}\n  ${violations.slice(0, 40).join('\n  ')}`,
  ].join('\n');
}
