// The browser features that the engine uses besides storage: page events, and uploads with
// progress.

/** The page's events that the engine reacts to. */
interface PageListeners {
  /** The page is visible again, or the network is back. */
  readonly onBack: (isFromCache: boolean) => void;
  readonly onOffline: () => void;
  /** The page is left; it may return from the browser's cache (`onBack`). */
  readonly onHide: () => void;
  /** Another tab has written or removed a key of the storage; null: it has cleared the storage. */
  readonly onStored: (key: string | null, json: string | null) => void;
}

/** @returns a function that removes the listeners */
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
  // `persisted`: the page was frozen in the cache, and received no events meanwhile.
  on('pageshow', (event) => listeners.onBack((event as PageTransitionEvent).persisted));
  on('pagehide', () => listeners.onHide());
  on('storage', (event) => {
    const { key, newValue, storageArea } = event as StorageEvent;
    if (storageArea === storage) listeners.onStored(key, newValue);
  });
  return () => controller.abort();
}

/** A file to send to `POST /chat/uploads`. */
interface UploadOrder {
  readonly url: string;
  readonly token: string;
  readonly file: File;
  /** 0 to 1. */
  readonly onProgress: (progress: number) => void;
  readonly signal: AbortSignal;
}

export interface UploadAnswer {
  /** 0: no answer. */
  readonly status: number;
  readonly body: string;
}

/** Never rejects. */
export type UploadRequest = (order: UploadOrder) => Promise<UploadAnswer>;

/** Uses XMLHttpRequest, because `fetch` does not report an upload's progress. */
export const uploadByXhr: UploadRequest = ({ url, token, file, onProgress, signal }) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / Math.max(total, 1));
    request.onloadend = () => resolve({ status: request.status, body: request.responseText });
    request.open('POST', url);
    request.setRequestHeader('Authorization', `Bearer ${token}`);
    const form = new FormData();
    form.append('file', file, file.name);
    // After `open`: aborting earlier would fire no `loadend`, and the promise would never settle.
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
