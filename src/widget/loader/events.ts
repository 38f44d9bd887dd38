import type { Emit, WidgetEvents } from '../main-part.ts';

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
