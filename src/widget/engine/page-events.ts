/** What the engine hears of its page. */
export interface PageListeners {
  /** The page or the network is back. */
  readonly onBack: (isFromCache: boolean) => void;
  readonly onOffline: () => void;
  /** The page goes, perhaps to come back by `onBack`. */
  readonly onHide: () => void;
  /** Another tab has written (or removed) a key of the storage, or all of them. */
  readonly onStored: (key: string | null, json: string | null) => void;
}

/** @returns the way to end it */
export function listenToPage(
  page: EventTarget | undefined,
  storage: Storage | undefined,
  listeners: PageListeners,
): () => void {
  const controller = new AbortController();
  const on = (type: string, listener: (event: Event) => void): void =>
    page?.addEventListener(type, listener, { signal: controller.signal });
  on('visibilitychange', ({ target }) => {
    const isHidden = (target as Partial<Document> | null)?.visibilityState === 'hidden';
    if (!isHidden) listeners.onBack(false);
  });
  on('online', () => listeners.onBack(false));
  on('offline', () => listeners.onOffline());
  // `persisted`: it was kept frozen, and has heard nothing meanwhile.
  on('pageshow', (event) => listeners.onBack((event as PageTransitionEvent).persisted));
  on('pagehide', () => listeners.onHide());
  on('storage', (event) => {
    const { key, newValue, storageArea } = event as StorageEvent;
    if (storageArea === storage) listeners.onStored(key, newValue);
  });
  return () => controller.abort();
}
