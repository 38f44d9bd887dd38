import { setTimeout as delay } from 'node:timers/promises';
import { allArrived, faultsOf, hasArrived } from '../../test/support/arrivals.ts';
import {
  type Accepted,
  customerNumber,
  MailSession,
  sendText,
  Visitor,
} from '../../test/support/customers.ts';
import { answered, blackHole, type Gate } from '../../test/support/platform-model-server.ts';
import type { SceneShop, ShopsScene } from '../../test/support/shops-scene.ts';

export const OUTAGES: Readonly<Record<'black-hole' | '401', Gate>> = {
  'black-hole': blackHole,
  '401': () => answered(401, '{"detail":"Invalid credentials"}'),
};

export interface OutageOptions {
  readonly kind: keyof typeof OUTAGES;
  readonly outageMs: number;
  /** Messages that are sent at the start of the outage. */
  readonly queued: number;
  /** The time between two messages during the rest of the outage. */
  readonly trafficEveryMs: number;
  /** Number of messages to measure the usual rate with beforehand; 0 skips this. */
  readonly usual: number;
  /** The time limits for the first message, and for all, to arrive after the outage. */
  readonly firstWithinMs: number;
  readonly drainWithinMs: number;
  readonly onProgress: (line: string) => void;
}

export interface OutageReport {
  readonly accepted: number;
  readonly arrived: number;
  /** Requests during the outage, by kind. */
  readonly requestsMeanwhile: ReadonlyMap<string, number>;
  /** From the end of the outage to the first message and to the last. */
  readonly firstAfterMs: number;
  readonly lastAfterMs: number;
  /** Messages per second. */
  readonly usualRate: number;
  /** Messages in each whole second after the first message, while there was a backlog. */
  readonly rates: readonly number[];
  readonly rateFirst10s: number;
  /** Messages per second from the 30th second after the outage; undefined without a backlog. */
  readonly rateAfter30s: number | undefined;
  /** Empty if all messages arrived once, in order, in time and at the right rate. */
  readonly faults: readonly string[];
}

const SENDERS = 16;
const FAULTS_SHOWN = 20;

/** Simulates an outage of a shop's platform while messages arrive, and checks delivery. */
export async function outage(
  scene: ShopsScene<string>,
  shop: SceneShop,
  options: OutageOptions,
): Promise<OutageReport> {
  const { kind, outageMs, queued, onProgress } = options;
  const { rate: usualRate, accepted: before } = await usualRateOf(scene, shop, options);
  if (usualRate > 0) onProgress(`usual rate: ${usualRate.toFixed(0)} a second`);

  const seenBefore = shop.platform.received.length;
  shop.platform.gate = OUTAGES[kind];
  const until = Date.now() + outageMs;
  const accepted = await send(scene, shop, queued);
  onProgress(`${accepted.length} accepted; the platform is away for ${outageMs / 1000} s`);
  for (let n = 0; Date.now() < until; n += 1) {
    const from = customerNumber(900_000 + (n % 100));
    accepted.push(await sendText(scene, shop, from, `meanwhile ${n}`));
    await delay(Math.min(options.trafficEveryMs, Math.max(0, until - Date.now())));
  }
  const requestsMeanwhile = new Map<string, number>();
  for (const { call } of shop.platform.received.slice(seenBefore)) {
    requestsMeanwhile.set(call, (requestsMeanwhile.get(call) ?? 0) + 1);
  }

  const healedAt = Date.now();
  shop.platform.gate = (_received, platform) => platform();
  onProgress('the platform is back');
  const faults: string[] = [];
  await allArrived(accepted, options.drainWithinMs).catch((error: unknown) => {
    faults.push(error instanceof Error ? error.message : String(error));
  });
  faults.push(...faultsOf([...before, ...accepted]));
  const times = shop.platform.model
    .messages(shop.shopId)
    .flatMap(({ at }) => (at >= healedAt ? [at] : []));
  const found = { ...figures(times, healedAt), usualRate };
  return {
    ...{ accepted: accepted.length, arrived: accepted.filter(hasArrived).length },
    ...{ requestsMeanwhile, ...found, faults: [...faults, ...missed(found, options)] },
  };
}

export function describe(report: OutageReport): string {
  const { accepted, arrived, requestsMeanwhile, firstAfterMs, lastAfterMs, faults } = report;
  const { usualRate, rates, rateFirst10s, rateAfter30s } = report;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const requests = [...requestsMeanwhile].map(([call, count]) => `${count} ${call}`);
  return [
    `${arrived} of ${accepted} arrived; requests while the platform was away: ${requests.join(', ')}`,
    `once it was back: the first after ${seconds(firstAfterMs)}, the last after ${seconds(lastAfterMs)}`,
    ...(usualRate > 0
      ? [
          `usual rate ${usualRate.toFixed(0)}/s; first 10 s ${rateFirst10s.toFixed(0)}/s; from the 30th ` +
            `second ${rateAfter30s === undefined ? 'nothing waited' : `${rateAfter30s.toFixed(0)}/s`}`,
          `each second from the first message: ${rates.slice(0, 60).join(' ')}`,
        ]
      : []),
    ...faults.slice(0, FAULTS_SHOWN).map((fault) => `FAULT ${fault}`),
    ...(faults.length > FAULTS_SHOWN ? [`${faults.length} FAULTS in all`] : []),
  ].join('\n');
}

type Figures = Pick<
  OutageReport,
  'firstAfterMs' | 'lastAfterMs' | 'rates' | 'rateFirst10s' | 'rateAfter30s'
>;

function figures(times: readonly number[], healedAt: number): Figures {
  const first = times[0] ?? Infinity;
  const last = times.at(-1) ?? Infinity;
  const between = (from: number, to: number): number =>
    times.filter((at) => at >= from && at < to).length;
  const wholeSeconds = Number.isFinite(last) ? Math.floor((last - first) / 1000) : 0;
  // The period in which the rate must be usual again, without the last, incomplete second.
  const from = healedAt + 30_000;
  const to = Math.min(from + 10_000, last - 1_000);
  return {
    firstAfterMs: first - healedAt,
    lastAfterMs: last - healedAt,
    rates: Array.from({ length: wholeSeconds }, (_none, n) =>
      between(first + n * 1000, first + (n + 1) * 1000),
    ),
    rateFirst10s: between(first, first + 10_000) / 10,
    rateAfter30s: to - from < 1_000 ? undefined : between(from, to) / ((to - from) / 1000),
  };
}

/** The goals that were not met. */
function missed(
  found: Figures & Pick<OutageReport, 'usualRate'>,
  { firstWithinMs }: OutageOptions,
): readonly string[] {
  const { firstAfterMs, usualRate, rateFirst10s, rateAfter30s, lastAfterMs } = found;
  const faults: string[] = [];
  if (firstAfterMs > firstWithinMs) {
    faults.push(`the first message took more than ${firstWithinMs / 1000} s`);
  }
  if (usualRate === 0) return faults;
  if (rateFirst10s > 2 * usualRate) faults.push('more than double the usual rate at first');
  const isBack =
    rateAfter30s === undefined ? lastAfterMs < 32_000 : rateAfter30s >= 0.8 * usualRate;
  if (!isBack) faults.push('less than 80% of the usual rate after 30 s');
  return faults;
}

/** The delivery rate of such a backlog without an outage, without its first and last tenth. */
async function usualRateOf(
  scene: ShopsScene<string>,
  shop: SceneShop,
  { usual, drainWithinMs, onProgress }: OutageOptions,
): Promise<{ rate: number; accepted: readonly Accepted[] }> {
  if (usual === 0) return { rate: 0, accepted: [] };
  scene.reload({ paused: true });
  const before = shop.platform.model.messages(shop.shopId).length;
  const accepted = await send(scene, shop, usual);
  const early = shop.platform.model.messages(shop.shopId).length - before;
  onProgress(`${usual} accepted, of which ${early} arrived before deliveries paused`);
  scene.reload({ paused: false });
  await allArrived(accepted, drainWithinMs);
  const times = shop.platform.model.messages(shop.shopId).map(({ at }) => at);
  const own = times.slice(before + early);
  const from = Math.floor(own.length * 0.1);
  const to = Math.floor(own.length * 0.9);
  const rate = (to - from) / (((own[to] ?? NaN) - (own[from] ?? NaN)) / 1000);
  return { rate, accepted };
}

let sent = 0;

/** Sends text messages, emails and chat, 6 : 3 : 1, in lanes of about 20, each in order. */
async function send(
  scene: ShopsScene<string>,
  shop: SceneShop,
  count: number,
): Promise<Accepted[]> {
  sent += 1;
  const name = `${sent}`;
  const accepted: Accepted[] = [];
  const perLane = Math.max(1, Math.min(20, Math.floor(count / 20)));
  const lanes = Math.ceil(count / perLane);
  const kinds = Array.from({ length: lanes }, (_none, lane) => ({ lane, kind: lane % 10 }));
  const lengthOf = (lane: number): number => Math.min(perLane, count - lane * perLane);
  const worker = async (): Promise<void> => {
    const mail = await MailSession.open(scene);
    for (let next = kinds.pop(); next !== undefined; next = kinds.pop()) {
      const { lane, kind } = next;
      const visitor = kind === 9 ? await Visitor.open(scene, shop) : undefined;
      for (let n = 0; n < lengthOf(lane); n += 1) {
        const content = `${name} ${lane}/${n}`;
        const from = `ann${name}x${lane}@example.com`;
        if (visitor !== undefined) accepted.push(await visitor.send(content));
        else if (kind >= 6) accepted.push(await mail.send(shop, { from, content }));
        else {
          const number = customerNumber(sent * 10_000 + lane);
          accepted.push(await sendText(scene, shop, number, content));
        }
      }
      visitor?.close();
    }
    mail.close();
  };
  await Promise.all(Array.from({ length: SENDERS }, worker));
  return accepted;
}
