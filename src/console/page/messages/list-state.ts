import { signal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { MessageList } from './message-list.ts';
import { type Filters, NO_FILTERS, readFilters, writeFilters } from './filters.ts';

/**
 * The list that the page shows. It outlives the page, so that whoever comes back from a message
 * finds it as he left it.
 */
export const list = new MessageList({
  entries: (query, signal) => api.entries(query, signal),
  entry: (id, signal) => api.entry(id, signal),
  clock: Date.now,
});

/** Where the list was scrolled to, kept with the history entry that the browser goes back to. */
interface KeptPlace {
  readonly listScroll?: number;
}

/** Undefined on a page that was not left before. */
export function keptScroll(): number | undefined {
  const place = history.state as KeptPlace | null;
  return typeof place?.listScroll === 'number' ? place.listScroll : undefined;
}

export function keepScroll(): void {
  const place: KeptPlace = { listScroll: scrollY };
  history.replaceState(place, '');
}

/** The query of the list that was looked at last; empty before. */
export const lastQuery = signal<string | undefined>(undefined);

/** Where "back to the messages" leads. */
export const lastListAddress = (): string => `/messages${lastQuery.value ?? ''}`;

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
