import type { Emit, WidgetEvents } from '../main-part.ts';

/** `window.Sluice`: what a page can do with the widget. */
export interface PageApi {
  open(): void;
  close(): void;
  /** @param jwt made by the shop's own server, which vouches for the visitor by it */
  identify(jwt: string): void;
  /** Forgets the visitor on this device. */
  logout(): void;
  on: Events['on'];
}

/** What a page may have queued before this script came: `(window.Sluice ||= []).push(['open'])`. */
type Queued = readonly (readonly [string, ...unknown[]])[];

declare global {
  interface Window {
    Sluice?: PageApi | Queued;
  }
}

/** Whether a widget is here already: two tags are one widget. */
export const isTaken = (): boolean => !!(window.Sluice as Partial<PageApi> | undefined)?.open;

/** Puts the API in the page's hands, and does what the page has queued. */
export function publish(api: PageApi): void {
  const queued = window.Sluice;
  window.Sluice = api;
  if (!Array.isArray(queued)) return;
  const callable = api as unknown as Record<string, ((...args: unknown[]) => unknown) | undefined>;
  for (const [name, ...args] of queued as Queued) callable[name]?.(...args);
}

type Listener = (detail: unknown) => void;

export interface Events {
  readonly emit: Emit;
  /** Returns a function that unsubscribes. */
  readonly on: (event: string, listener: Listener) => () => void;
}

/**
 * What a page hears. A listener that throws is the page's own mistake: it is reported as any other
 * and stops neither the widget nor the next listener.
 */
export function createEvents(): Events {
  const listeners = new Map<string, Set<Listener>>();
  let ready = false;
  return {
    emit: (event: keyof WidgetEvents, detail?: unknown) => {
      ready ||= event === 'ready';
      for (const listener of listeners.get(event) ?? []) {
        try {
          listener(detail);
        } catch (error) {
          reportError(error);
        }
      }
    },
    on: (event, listener) => {
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set.add(listener));
      // Whoever comes late has not missed that it is ready.
      if (event === 'ready' && ready) queueMicrotask(() => listener(undefined));
      return () => void set.delete(listener);
    },
  };
}
