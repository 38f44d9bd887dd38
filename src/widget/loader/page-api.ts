import type { Emit } from '../main-part.ts';
import type { PageApi, Widget, WidgetEvents } from '../package/widget.ts';

/** Whether the page has a widget already: a second script tag does nothing. */
export const isLoaded = (): boolean => !!(window.Sluice as Partial<PageApi> | undefined)?.open;

/** Makes the API available to the page, and executes the queued calls. */
export function publishApi(widget: Widget): void {
  const queued = window.Sluice;
  const callable = widget as unknown as Record<string, ((...args: unknown[]) => void) | undefined>;
  const api: PageApi = {
    ...widget,
    push: (...calls) => {
      for (const [name, ...args] of calls) callable[name]?.(...args);
    },
  };
  window.Sluice = api;
  if (Array.isArray(queued)) api.push(...queued);
}

type Listener = (detail: unknown) => void;

export interface Events {
  readonly emit: Emit;
  readonly on: Widget['on'];
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
    on: (event, heard) => {
      // Each listener gets the detail of its own event.
      const listener = heard as Listener;
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set.add(listener));
      // A listener that is added later still gets `ready`.
      if (event === 'ready' && ready) queueMicrotask(() => listener(undefined));
      return () => void set.delete(listener);
    },
  };
}
