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
