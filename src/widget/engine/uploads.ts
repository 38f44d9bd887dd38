import { signal } from '@preact/signals-core';
import type { AttachmentInfo, SessionEvent } from '../../channels/chat/events.ts';
import { backoffMs } from './backoff.ts';
import type { FileError, PendingFile } from './chat.ts';
import { newId } from './new-id.ts';
import { parsed } from './safe-storage.ts';
import type { UploadAnswer, UploadRequest } from './upload-request.ts';

export interface UploadsParts {
  readonly url: string;
  readonly request: UploadRequest;
  readonly fetch: typeof fetch | undefined;
  readonly limits: () => Pick<SessionEvent['limits'], 'files' | 'fileBytes'>;
  /** Of the session of the connection that is open now. */
  readonly token: () => string | undefined;
  /** The token was refused: a new session brings another one. */
  readonly renewToken: () => void;
  readonly retryMs: number;
}

/** Of a network that loses uploads while the connection stands, or a server that fails. */
const MAX_ATTEMPTS = 4;

const ERRORS: Readonly<Record<number, FileError>> = {
  413: 'too_large',
  415: 'unsupported',
  429: 'rate_limited',
};

/** What an upload has gone through so far. */
interface Course {
  readonly file: File;
  attempts: number;
  hasRenewedToken: boolean;
}

/**
 * The files of the next message. They are uploaded one after the other, as soon as they are
 * attached and while there is a connection; what is interrupted begins again when it is back.
 */
export class Uploads {
  readonly files = signal<readonly PendingFile[]>([]);
  readonly #parts: UploadsParts;
  readonly #courses = new Map<string, Course>();
  /** By file of the next message: what the server calls it. */
  readonly #uploaded = new Map<string, AttachmentInfo & { readonly id: string }>();
  /** By upload: the visitor's own files need not be fetched again. */
  readonly #blobs = new Map<string, Blob>();
  #current: { readonly key: string; readonly abort: AbortController } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: UploadsParts) {
    this.#parts = parts;
  }

  add(files: Iterable<File>): void {
    const { files: maxFiles, fileBytes } = this.#parts.limits();
    for (const file of files) {
      const room = this.files.value.filter(({ error }) => error !== 'too_many').length < maxFiles;
      const error = room ? file.size > fileBytes && 'too_large' : 'too_many';
      const key = newId();
      this.#courses.set(key, { file, attempts: 0, hasRenewedToken: false });
      const { name, type, size } = file;
      const common = { key, name, type, size, progress: 0, blob: file };
      this.files.value = [
        ...this.files.value,
        error ? { ...common, state: 'failed', error } : { ...common, state: 'waiting' },
      ];
    }
    this.resume();
  }

  retry(key: string): void {
    const course = this.#courses.get(key);
    const file = this.files.value.find((each) => each.key === key);
    if (course === undefined || file?.state !== 'failed') return;
    this.remove(key);
    this.add([course.file]);
  }

  remove(key: string): void {
    if (this.#current?.key === key) this.#current.abort.abort();
    this.#courses.delete(key);
    this.#uploaded.delete(key);
    this.files.value = this.files.value.filter((file) => file.key !== key);
  }

  /** Takes the uploaded files out, for a message that carries them. */
  take(): AttachmentInfo[] {
    const taken = this.files.value.flatMap(({ key, blob }) => {
      const info = this.#uploaded.get(key);
      if (info === undefined) return [];
      this.#blobs.set(info.id, blob);
      return info;
    });
    this.clear();
    return taken;
  }

  /** The bytes of an upload; undefined when they cannot be had. */
  async open(uploadId: string, token: string | undefined): Promise<Blob | undefined> {
    const own = this.#blobs.get(uploadId);
    if (own !== undefined || token === undefined) return own;
    // A browser's `fetch` is a method of its window.
    const { url, fetch = globalThis.fetch.bind(globalThis) } = this.#parts;
    try {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/${encodeURIComponent(uploadId)}`, { headers });
      return answer.ok ? await answer.blob() : undefined;
    } catch {
      return undefined;
    }
  }

  /** Goes on, when there is something to do and a connection to do it. */
  resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const token = this.#parts.token();
    const next = this.files.value.find(({ state }) => state === 'waiting');
    if (token === undefined || next === undefined || this.#current !== undefined) return;
    const course = this.#courses.get(next.key);
    if (course !== undefined) void this.#upload(next.key, course, token);
  }

  /** What was uploaded belongs to a visitor who has gone: once more, for the one who is here. */
  restart(): void {
    this.#current?.abort.abort();
    this.#uploaded.clear();
    for (const { key, state } of this.files.value) {
      if (state !== 'failed') this.#change(key, { state: 'waiting', progress: 0 });
    }
  }

  clear(): void {
    for (const { key } of this.files.value) this.remove(key);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#current?.abort.abort();
  }

  async #upload(key: string, course: Course, token: string): Promise<void> {
    const { url, request } = this.#parts;
    const abort = new AbortController();
    this.#current = { key, abort };
    this.#change(key, { state: 'uploading', progress: 0 });
    const answer = await request({
      ...{ url, token, file: course.file, signal: abort.signal },
      onProgress: (progress) => {
        if (!abort.signal.aborted) this.#change(key, { progress });
      },
    });
    this.#current = undefined;
    if (!abort.signal.aborted) this.#settle(key, course, answer);
    if (this.#timer === undefined) this.resume();
  }

  #settle(key: string, course: Course, { status, body }: UploadAnswer): void {
    const info = status === 201 ? asUpload(parsed(body)) : undefined;
    if (info !== undefined) {
      this.#uploaded.set(key, info);
      this.#change(key, { state: 'uploaded', progress: 1 });
    } else if (status === 401 && !course.hasRenewedToken) {
      course.hasRenewedToken = true;
      this.#change(key, { state: 'waiting', progress: 0 });
      this.#parts.renewToken();
    } else if (status === 0 || status >= 500) {
      this.#again(key, course);
    } else {
      this.#change(key, { state: 'failed', progress: 0, error: ERRORS[status] ?? 'failed' });
    }
  }

  #again(key: string, course: Course): void {
    // Without a connection it is nobody's fault, and it goes on with the next one.
    if (this.#parts.token() === undefined) {
      this.#change(key, { state: 'waiting', progress: 0 });
      return;
    }
    course.attempts += 1;
    if (course.attempts >= MAX_ATTEMPTS) {
      this.#change(key, { state: 'failed', progress: 0, error: 'failed' });
      return;
    }
    this.#change(key, { state: 'waiting', progress: 0 });
    const minMs = this.#parts.retryMs;
    const wait = backoffMs(course.attempts - 1, { minMs, maxMs: 8 * minMs });
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.resume();
    }, wait);
  }

  #change(key: string, change: Partial<PendingFile>): void {
    this.files.value = this.files.value.map((file) =>
      file.key === key ? { ...file, ...change } : file,
    );
  }
}

function asUpload(value: unknown): (AttachmentInfo & { readonly id: string }) | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, name, type, size } = value as Partial<Record<keyof AttachmentInfo, unknown>>;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof type !== 'string') return;
  return { id, name, type, size: Number(size) };
}
