import { useEffect, useState } from 'preact/hooks';
import type { History } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { connection, overview } from '../stream.ts';
import { type LivePoint, livePoint } from './rates.ts';

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
