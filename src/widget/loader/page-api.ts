import type { Events } from './events.ts';

/** `window.Sluice`: what a page can do with the widget. */
export interface PageApi {
  open(): void;
  close(): void;
  /** @param jwt made by the shop's own server, which vouches for the visitor by it */
  identify(jwt: string): void;
  /** Forgets the visitor on this device. */
  logout(): void;
  on: Events['on'];
  /** What a page calls that has queued before this script came: `Sluice.push(['open'])`. */
  push(...calls: readonly (readonly [string, ...unknown[]])[]): void;
}

declare global {
  interface Window {
    Sluice?: PageApi | readonly (readonly [string, ...unknown[]])[];
  }
}

/** Whether a widget is here already: two tags are one widget. */
export const isTaken = (): boolean => window.Sluice !== undefined && 'open' in window.Sluice;

/** Puts the API in the page's hands, and does what the page has queued. */
export function publish(actions: Omit<PageApi, 'push'>): void {
  const queued = Array.isArray(window.Sluice) ? window.Sluice : [];
  const callable = actions as unknown as Record<
    string,
    ((...args: unknown[]) => unknown) | undefined
  >;
  const api: PageApi = {
    ...actions,
    push: (...calls) => {
      for (const [name, ...args] of calls) callable[name]?.(...args);
    },
  };
  window.Sluice = api;
  api.push(...(queued as readonly [string, ...unknown[]][]));
}
