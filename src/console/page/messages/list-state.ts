import { signal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { connection, onEntries } from '../stream.ts';
import { MessageList } from './message-list.ts';
import { type EntryQuery, type Filters, NO_FILTERS, readFilters, writeFilters } from './filters.ts';

/**
 * The list shown by the page. It persists across pages, so that returning from a message restores
 * it.
 */
export const list = new MessageList({
  entries: (query, signal) => api.entries(query, signal),
  entry: (id, signal) => api.entry(id, signal),
  clock: Date.now,
});

/** The scroll position of the list, stored in the browser's history entry. */
interface HistoryState {
  readonly listScroll?: number;
}

/** Undefined for a history entry without a stored position. */
function savedScroll(): number | undefined {
  const state = history.state as HistoryState | null;
  return typeof state?.listScroll === 'number' ? state.listScroll : undefined;
}

function saveScroll(): void {
  const state: HistoryState = { listScroll: scrollY };
  history.replaceState(state, '');
}

/** The query of the list shown last; undefined before the first. */
export const lastQuery = signal<string | undefined>(undefined);

/** The address of the link back to the list. */
export const lastListAddress = (): string => `/messages${lastQuery.value ?? ''}`;

const TYPING_PAUSE_MS = 180;

/**
 * The filters in the address. Typed text is shown at once and searched for after a short pause; it
 * replaces the history entry, while a choice adds one.
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
    /** The filters of the search. */
    filters,
    /** The filters shown in the fields. */
    shown,
    choose: (change: Partial<Filters>) => go({ ...shown, ...change }, false),
    type: (change: { readonly text?: string; readonly reason?: string }) => {
      const next = { ...shown, ...change };
      setTyped({ text: next.text, reason: next.reason });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => go(next, true), TYPING_PAUSE_MS);
    },
    /** Searches at once, without the pause. */
    searchNow: () => go(shown, true),
    clear: () => go(NO_FILTERS, false),
  };
}

export type FilterState = ReturnType<typeof useFilters>;

const SCROLL_SAVED_AFTER_MS = 200;

/** Loads the list for the address; on return the previous list is restored. */
export function useShownList(address: string, query: () => EntryQuery): void {
  const shownFor = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const kept = shownFor.current === undefined ? savedScroll() : undefined;
    shownFor.current = address;
    if (kept !== undefined && list.pages.value.isLoaded && lastQuery.value === address) {
      list.refreshAll();
      // After the router's scrolling and the layout.
      requestAnimationFrame(() => scrollTo(0, kept));
    } else {
      lastQuery.value = address;
      void list.show(query());
    }
  }, [address]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(saveScroll, SCROLL_SAVED_AFTER_MS);
    };
    // Runs before the router handles the click and adds a history entry.
    const onClick = (event: Event) => {
      if (event.target instanceof Element && event.target.closest('a') !== null) saveScroll();
    };
    addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', onScroll);
      document.removeEventListener('click', onClick, { capture: true });
      list.stop();
    };
  }, []);
}

/** Keeps the list up to date while it is shown. */
export function useLiveList(): void {
  useEffect(() => onEntries((ids) => list.changed(ids)), []);
  const isLive = connection.value === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) list.refreshAll();
    wasLive.current = isLive;
  }, [isLive]);
}
