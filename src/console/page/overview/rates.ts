import { useEffect, useState } from 'preact/hooks';
import type { Channel, History, Overview } from '../../contract.ts';
import { type ChartData, withGaps } from './chart-data.ts';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { connection, overview } from '../stream.ts';

const MINUTE_MS = 60_000;

/** The values that an overview adds after the last point of the history. */
export interface LivePoint {
  readonly at: number;
  readonly accepted: Readonly<Record<Channel, number>>;
  readonly delivered: Readonly<Record<Channel, number>>;
  readonly queued: number;
}

function livePoint({ at, channels, queue }: Overview): LivePoint {
  const per = (figure: 'acceptedPerMinute' | 'deliveredPerMinute') => {
    const rates = { email: 0, sms: 0, web_chat: 0 };
    for (const each of channels) rates[each.channel] = each[figure];
    return rates;
  };
  return {
    at,
    accepted: per('acceptedPerMinute'),
    delivered: per('deliveredPerMinute'),
    queued: queue.queued,
  };
}

/** Live points later than the last point of the history. */
const after = (history: History, live: readonly LivePoint[]): readonly LivePoint[] => {
  const last = history.points.at(-1)?.at ?? 0;
  return live.filter(({ at }) => at > last);
};

const seconds = (at: number): number => at / 1_000;

/** Accepted and delivered messages per minute, each over the minute before the point. */
export function rateData(
  history: History,
  live: readonly LivePoint[],
  channel: Channel,
): ChartData {
  const { points, stepMs } = history;
  const steps = Math.max(1, Math.round(MINUTE_MS / stepMs));
  const livePoints = after(history, live);
  const trailing = (what: 'accepted' | 'delivered') => {
    let sum = 0;
    return points.map((point, index) => {
      sum += point[what][channel] - (points[index - steps]?.[what][channel] ?? 0);
      return sum;
    });
  };
  return withGaps(
    [
      [...points, ...livePoints].map(({ at }) => seconds(at)),
      [...trailing('accepted'), ...livePoints.map(({ accepted }) => accepted[channel])],
      [...trailing('delivered'), ...livePoints.map(({ delivered }) => delivered[channel])],
    ],
    stepMs,
  );
}

export function queueData(history: History, live: readonly LivePoint[]): ChartData {
  const all = [...history.points, ...after(history, live)];
  return withGaps(
    [all.map(({ at }) => seconds(at)), all.map(({ queued }) => queued)],
    history.stepMs,
  );
}

/** Delivery times of each step; null for steps without deliveries and for live points. */
export function latencyData(history: History, live: readonly LivePoint[]): ChartData {
  const { points } = history;
  const livePoints = after(history, live);
  const none = livePoints.map(() => null);
  return [
    [...points, ...livePoints].map(({ at }) => seconds(at)),
    [...points.map(({ p50 }) => p50 ?? null), ...none],
    [...points.map(({ p95 }) => p95 ?? null), ...none],
  ];
}

/** How often the history is reloaded; its points then replace the live ones. */
const RELOAD_EVERY_MS = 60_000;
const MAX_LIVE_POINTS = 120;

/** The history of the last hour, and the live points received since it was loaded. */
export function useLiveHistory(): { history: History | undefined; live: readonly LivePoint[] } {
  const [reloads, setReloads] = useState(0);
  const isLive = connection.value === 'live';
  const { data } = useLoad((signal) => api.history(signal), [reloads, isLive]);
  const [live, setLive] = useState<readonly LivePoint[]>([]);
  useEffect(() => {
    const timer = setInterval(() => setReloads((before) => before + 1), RELOAD_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const newest = overview.value;
  useEffect(() => {
    if (newest !== undefined)
      setLive((all) => [...all.slice(1 - MAX_LIVE_POINTS), livePoint(newest)]);
  }, [newest]);
  return { history: data, live };
}
