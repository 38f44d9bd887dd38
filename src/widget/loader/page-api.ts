import type { Emit, WidgetEvents } from '../main-part.ts';

/** `window.Sluice`: the calls that a page can make. */
interface PageApi {
  open(): void;
  close(): void;
  /** @param jwt issued by the shop's own server, to say who the visitor is */
  identify(jwt: string): void;
  /** Forgets the visitor on this device. */
  logout(): void;
  on: Events['on'];
}

/** Calls from before this script was loaded: `(window.Sluice ||= []).push(['open'])`. */
type Queued = readonly (readonly [string, ...unknown[]])[];

declare global {
  interface Window {
    Sluice?: PageApi | Queued;
  }
}

/** Whether the page has a widget already: a second script tag does nothing. */
export const isLoaded = (): boolean => !!(window.Sluice as Partial<PageApi> | undefined)?.open;

/** Makes the API available to the page, and executes the queued calls. */
export function publishApi(api: PageApi): void {
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
 * The page's event listeners. An error of a listener is reported as an uncaught error of the page;
 * it stops neither the widget nor the next listener.
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
      // A listener that is added later still gets `ready`.
      if (event === 'ready' && ready) queueMicrotask(() => listener(undefined));
      return () => void set.delete(listener);
    },
  };
}
