import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Filters, NO_FILTERS, readFilters, writeFilters } from './filters.ts';

const TYPING_PAUSE_MS = 180;

/**
 * The filters of the address. What is typed shows at once, and is looked for after a short pause;
 * it replaces the history entry, where a choice makes a new one that Back takes away.
 */
export function useFilters() {
  const { url, path, route } = useLocation();
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const filters = useMemo(() => readFilters(query), [query]);
  const [typed, setTyped] = useState<{ text: string; reason: string } | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const go = useCallback(
    (next: Filters, replace: boolean) => {
      clearTimeout(timer.current);
      setTyped(undefined);
      const address = `${path}${writeFilters(next)}`;
      if (address !== url) route(address, replace);
    },
    [path, url, route],
  );
  useEffect(() => () => clearTimeout(timer.current), [query]);

  const shown: Filters = { ...filters, ...typed };
  return {
    /** What is looked for. */
    filters,
    /** What the fields show. */
    shown,
    choose: (change: Partial<Filters>) => go({ ...shown, ...change }, false),
    type: (change: { readonly text?: string; readonly reason?: string }) => {
      const next = { ...shown, ...change };
      setTyped({ text: next.text, reason: next.reason });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => go(next, true), TYPING_PAUSE_MS);
    },
    /** Without waiting for the pause. */
    settle: () => go(shown, true),
    clear: () => go(NO_FILTERS, false),
  };
}

export type FilterState = ReturnType<typeof useFilters>;
