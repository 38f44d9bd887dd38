import { useEffect, useState } from 'preact/hooks';
import type { Channel, History, Overview } from '../../contract.ts';
import type { ChartData } from './chart.tsx';
import { api, useLoad } from '../api.ts';
import { connection, overview } from '../stream.ts';

const MINUTE_MS = 60_000;

/** What an overview adds to the history, between two of its points. */
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

/** Live points that are newer than the history. */
const newer = (history: History, live: readonly LivePoint[]): readonly LivePoint[] => {
  const last = history.points.at(-1)?.at ?? 0;
  return live.filter(({ at }) => at > last);
};

const seconds = (at: number): number => at / 1_000;

/** Accepted and delivered per minute: at each point, of the minute that ended with it. */
export function rateData(
  history: History,
  live: readonly LivePoint[],
  channel: Channel,
): ChartData {
  const { points, stepMs } = history;
  const steps = Math.max(1, Math.round(MINUTE_MS / stepMs));
  const tips = newer(history, live);
  const trailing = (what: 'accepted' | 'delivered') => {
    let sum = 0;
    return points.map((point, index) => {
      sum += point[what][channel] - (points[index - steps]?.[what][channel] ?? 0);
      return sum;
    });
  };
  return [
    [...points, ...tips].map(({ at }) => seconds(at)),
    [...trailing('accepted'), ...tips.map(({ accepted }) => accepted[channel])],
    [...trailing('delivered'), ...tips.map(({ delivered }) => delivered[channel])],
  ];
}

export function queueData(history: History, live: readonly LivePoint[]): ChartData {
  const all = [...history.points, ...newer(history, live)];
  return [all.map(({ at }) => seconds(at)), all.map(({ queued }) => queued)];
}

/** Of each step by itself; null where nothing was delivered, and for what no step has told yet. */
export function latencyData(history: History, live: readonly LivePoint[]): ChartData {
  const { points } = history;
  const tips = newer(history, live);
  const none = tips.map(() => null);
  return [
    [...points, ...tips].map(({ at }) => seconds(at)),
    [...points.map(({ p50 }) => p50 ?? null), ...none],
    [...points.map(({ p95 }) => p95 ?? null), ...none],
  ];
}

/** The live points in between are dropped for the true ones. */
const RENEW_MS = 60_000;
const MOST_LIVE = 120;

/** The last hour, and what has come since it was asked for. */
export function useLiveHistory(): { history: History | undefined; live: readonly LivePoint[] } {
  const [turn, setTurn] = useState(0);
  const isLive = connection.value === 'live';
  const { data } = useLoad((signal) => api.history(signal), [turn, isLive]);
  const [live, setLive] = useState<readonly LivePoint[]>([]);
  useEffect(() => {
    const timer = setInterval(() => setTurn((before) => before + 1), RENEW_MS);
    return () => clearInterval(timer);
  }, []);
  const newest = overview.value;
  useEffect(() => {
    if (newest !== undefined) setLive((all) => [...all.slice(1 - MOST_LIVE), livePoint(newest)]);
  }, [newest]);
  return { history: data, live };
}
