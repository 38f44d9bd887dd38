import { api } from '../api.ts';
import { MessageList } from './message-list.ts';

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
