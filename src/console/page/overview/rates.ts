import { useEffect, useState } from 'preact/hooks';
import type { Channel, History, Overview } from '../../contract.ts';
import { type ChartData, type Marker, markersOf, withGaps } from './chart-data.ts';
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

/** Live points later than the last point of the history, unless its points are far apart. */
const after = (history: History, live: readonly LivePoint[]): readonly LivePoint[] => {
  if (history.stepMs >= MINUTE_MS) return [];
  const last = history.points.at(-1)?.at ?? 0;
  return live.filter(({ at }) => at > last);
};

const seconds = (at: number): number => at / 1_000;

/** Accepted and delivered messages per minute, each over the minute or the step before the point. */
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
      return sum * Math.min(1, MINUTE_MS / stepMs);
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

/** What a chart can show. */
export const CHART_RANGES = [
  { key: '15m', label: '15 min', words: 'the last 15 minutes', ms: 15 * MINUTE_MS, of: 'hour' },
  { key: '1h', label: '1 h', words: 'the last hour', ms: 60 * MINUTE_MS, of: 'hour' },
  { key: '24h', label: '24 h', words: 'the last day', ms: 24 * 60 * MINUTE_MS, of: 'day' },
] as const;
export type ChartRange = (typeof CHART_RANGES)[number];

/** What the charts of the overview share. */
export interface LiveHistory {
  readonly range: ChartRange;
  readonly history: History | undefined;
  /** The live points received since the history was loaded. */
  readonly live: readonly LivePoint[];
  readonly markers: readonly Marker[];
}

/** The history of the range, with what happened at the gateway. */
export function useLiveHistory(range: ChartRange): LiveHistory {
  const [reloads, setReloads] = useState(0);
  const isLive = connection.value === 'live';
  const firing = overview.value?.alerts.map(({ rule, since }) => `${rule} ${since}`).join() ?? '';
  const { data } = useLoad((signal) => api.history(range.of, signal), [reloads, isLive, range.of]);
  const incidents = useLoad((signal) => api.incidents(signal), [reloads, isLive, firing]);
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
  return {
    ...{ range, live, history: data },
    markers: markersOf(incidents.data?.incidents ?? []),
  };
}
