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
