import { batch, computed, signal } from '@preact/signals';
import type { ActionProgress, DeskSummary, Overview, StreamEvent } from '../contract.ts';
import { api, session } from './api.ts';
import { gatewayNow, now, setClock } from './now.ts';

/** An overview arrives every 2 s; after three missing ones the connection counts as lost. */
const STALE_AFTER_MS = 7_000;
/** A connection without events for this long is reopened, since it may be half open. */
const RECONNECT_AFTER_MS = 15_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000] as const;
/** A hidden page closes its connection: HTTP/1.1 browsers allow six per host. */
const HIDDEN_CLOSES_AFTER_MS = 60_000;

/** The newest overview; while disconnected, the last one received. */
export const overview = signal<Overview | undefined>(undefined);
/** What waits for people; all that somebody at the desk gets of the shops. */
export const desk = signal<DeskSummary | undefined>(undefined);
/** Whether the person may use the Platform pages only. */
export const isDeskOnly = computed(() => session.value?.role === 'desk');
/** The names of the shops, with the chosen one also when it is no longer configured. */
export const shopsWith = (chosen: string): readonly string[] => {
  const shops = (overview.value ?? desk.value)?.shops.map(({ shop }) => shop) ?? [];
  return chosen === '' || shops.includes(chosen) ? shops : [...shops, chosen];
};
/** When `overview` was received. */
export const lastSeenAt = signal<number | undefined>(undefined);
const openedAt = signal(gatewayNow());
/** How often the stream was opened. The events in between are missing, so lists are read again. */
export const openings = signal(0);

export type Connection = 'connecting' | 'live' | 'lost';
export const connection = computed<Connection>(() => {
  const seen = lastSeenAt.value ?? openedAt.value;
  if (now.value - seen > STALE_AFTER_MS) return 'lost';
  return lastSeenAt.value === undefined ? 'connecting' : 'live';
});

type Listener<T> = (data: T) => void;
const entryListeners = new Set<Listener<readonly string[]>>();
const actionListeners = new Set<Listener<ActionProgress>>();
const ticketListeners = new Set<Listener<readonly { readonly id: string }[]>>();
const presenceListeners = new Set<Listener<Presence>>();
type Presence = DataOf<'presence'>;

/** Calls the listener with changed tickets; returns the unsubscribe function. */
export function onTickets(listener: Listener<readonly { readonly id: string }[]>): () => void {
  ticketListeners.add(listener);
  return () => ticketListeners.delete(listener);
}

/** Calls the listener with who has a ticket open; returns the unsubscribe function. */
export function onPresence(listener: Listener<Presence>): () => void {
  presenceListeners.add(listener);
  return () => presenceListeners.delete(listener);
}

/** Calls the listener with the ids of new and changed entries; returns the unsubscribe function. */
export function onEntries(listener: Listener<readonly string[]>): () => void {
  entryListeners.add(listener);
  return () => entryListeners.delete(listener);
}

/** Calls the listener with the progress of actions; returns the unsubscribe function. */
export function onAction(listener: Listener<ActionProgress>): () => void {
  actionListeners.add(listener);
  return () => actionListeners.delete(listener);
}

/** Keeps the stream open and reconnects it until the returned function is called. */
export function startStream(): () => void {
  let source: EventSource | undefined;
  let tries = 0;
  let lastEventAt = Date.now();
  let retry: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    clearTimeout(retry);
    retry = undefined;
    source?.close();
    source = undefined;
  };
  const reconnect = () => {
    close();
    retry = setTimeout(open, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
    tries += 1;
    // EventSource hides the status. This request shows the login page if the session has ended.
    if (tries > 1) api.session().catch(() => undefined);
  };
  function open(): void {
    close();
    lastEventAt = Date.now();
    source = new EventSource('/api/stream');
    source.addEventListener('error', reconnect);
    source.addEventListener('open', () => (openings.value += 1));
    subscribe(source, () => {
      lastEventAt = Date.now();
      tries = 0;
    });
  }

  const watchdog = setInterval(() => {
    if (source !== undefined && Date.now() - lastEventAt > RECONNECT_AFTER_MS) reconnect();
  }, 5_000);
  const onVisibility = () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_CLOSES_AFTER_MS);
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
    clearTimeout(hiddenTimer);
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    close();
  };
}

/** Takes the events of a stream; `onEvent` is called with each, before it is taken. */
function subscribe(source: EventSource, onEvent: () => void): void {
  const on = <E extends StreamEvent['event']>(event: E, take: (data: DataOf<E>) => void) =>
    source.addEventListener(event, (message: MessageEvent<string>) => {
      onEvent();
      take(JSON.parse(message.data) as DataOf<E>); // The page and the gateway share the contract.
    });
  on('overview', (figures) =>
    batch(() => {
      setClock(figures.at);
      overview.value = figures;
      lastSeenAt.value = gatewayNow();
    }),
  );
  on('entries', ({ ids }) => {
    for (const listener of entryListeners) listener(ids);
  });
  on('action', (progress) => {
    for (const listener of actionListeners) listener(progress);
  });
  on('desk', (summary) =>
    batch(() => {
      desk.value = summary;
      if (!isDeskOnly.value) return;
      // Nobody at the desk gets an overview.
      setClock(summary.at);
      lastSeenAt.value = gatewayNow();
    }),
  );
  on('tickets', ({ tickets }) => {
    for (const listener of ticketListeners) listener(tickets);
  });
  on('presence', (presence) => {
    for (const listener of presenceListeners) listener(presence);
  });
  on('signed_out', () => (session.value = null));
}

type DataOf<E extends StreamEvent['event']> = Extract<StreamEvent, { readonly event: E }>['data'];
