import { batch, computed, signal } from '@preact/signals';
import type { ActionProgress, Overview } from '../contract.ts';
import { api, session } from './api.ts';
import { gatewayNow, now, setClock } from './now.ts';

/** An overview comes every 2 s; three that are missing are a connection that is gone. */
const STALE_AFTER_MS = 7_000;
/** A connection silent for this long is reopened, since it may be half open. */
const SILENT_AFTER_MS = 15_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000] as const;
/** A page that nobody looks at gives its connection back: a browser has six for one host. */
const HIDDEN_CLOSES_AFTER_MS = 60_000;

/** The newest figures; of the last connection while there is none. */
export const overview = signal<Overview | undefined>(undefined);
/** When `overview` arrived. */
export const lastSeenAt = signal<number | undefined>(undefined);
const openedAt = signal(gatewayNow());

export type Connection = 'connecting' | 'live' | 'lost';
export const connection = computed<Connection>(() => {
  const seen = lastSeenAt.value ?? openedAt.value;
  if (now.value - seen > STALE_AFTER_MS) return 'lost';
  return lastSeenAt.value === undefined ? 'connecting' : 'live';
});

type Listener<T> = (data: T) => void;
const entryListeners = new Set<Listener<readonly string[]>>();
const actionListeners = new Set<Listener<ActionProgress>>();

/** Tells of entries that are new or have changed; returns what ends it. */
export function onEntries(listener: Listener<readonly string[]>): () => void {
  entryListeners.add(listener);
  return () => entryListeners.delete(listener);
}

/** Tells how a bulk action goes on; returns what ends it. */
export function onAction(listener: Listener<ActionProgress>): () => void {
  actionListeners.add(listener);
  return () => actionListeners.delete(listener);
}

/** Holds the stream open, and opens it again, until the returned function is called. */
export function startStream(): () => void {
  let source: EventSource | undefined;
  let tries = 0;
  let heardAt = Date.now();
  let retry: ReturnType<typeof setTimeout> | undefined;
  let hide: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    clearTimeout(retry);
    retry = undefined;
    source?.close();
    source = undefined;
  };
  const again = () => {
    close();
    retry = setTimeout(open, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
    tries += 1;
    // An EventSource does not tell a 401 from a dead gateway; this does, and leads to the login.
    if (tries > 1) api.session().catch(() => undefined);
  };
  const heard = () => {
    heardAt = Date.now();
    tries = 0;
  };
  function open(): void {
    close();
    heardAt = Date.now();
    const opened = new EventSource('/api/stream');
    source = opened;
    const on = (event: string, take: (data: unknown) => void) =>
      opened.addEventListener(event, (message: MessageEvent<string>) => {
        heard();
        take(JSON.parse(message.data));
      });
    on('overview', (data) =>
      batch(() => {
        const figures = data as Overview;
        setClock(figures.at);
        overview.value = figures;
        lastSeenAt.value = gatewayNow();
      }),
    );
    on('entries', (data) => {
      const { ids } = data as { ids: readonly string[] };
      for (const listener of entryListeners) listener(ids);
    });
    on('action', (data) => {
      for (const listener of actionListeners) listener(data as ActionProgress);
    });
    on('signed_out', () => (session.value = null));
    opened.addEventListener('error', again);
  }

  const watchdog = setInterval(() => {
    if (source !== undefined && Date.now() - heardAt > SILENT_AFTER_MS) again();
  }, 5_000);
  const onVisibility = () => {
    clearTimeout(hide);
    if (document.hidden) hide = setTimeout(close, HIDDEN_CLOSES_AFTER_MS);
    else if (source === undefined) open();
  };
  const onOnline = () => {
    tries = 0;
    open();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  openedAt.value = gatewayNow();
  lastSeenAt.value = undefined;
  open();

  return () => {
    clearInterval(watchdog);
    clearTimeout(hide);
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    close();
  };
}
