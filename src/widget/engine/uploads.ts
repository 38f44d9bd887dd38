import { signal } from '@preact/signals-core';
import type { AttachmentInfo, SessionEvent } from '../../channels/chat/events.ts';
import { backoffMs } from './timing.ts';
import type { FileError, PendingFile } from './chat.ts';
import { newId } from './outbox.ts';
import { parsed, type SafeStorage } from '../storage.ts';
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
  readonly storage: SafeStorage;
  readonly now: () => number;
}

export const FILES = 'files';
/** The server keeps a file for a day that no message uses; in the last hour it is not relied upon. */
const KEPT_MS = 23 * 3_600_000;
/** For an answer that is not needed: without it, the server finds out in a day. */
const REMOVAL_TIMEOUT_MS = 10_000;

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

type Upload = AttachmentInfo & { readonly id: string };

/** An upload that waits for its message, as it lies in the storage. */
interface StoredUpload extends Upload {
  /** Of its file in the tray, in every tab. */
  readonly key: string;
  readonly at: number;
}

/**
 * The files of the next message. They are uploaded one after the other, as soon as they are
 * attached and while there is a connection; what is interrupted begins again when it is back. What
 * is uploaded is in the storage, as the draft is: all tabs show it, and so does the next page.
 */
export class Uploads {
  readonly files = signal<readonly PendingFile[]>([]);
  readonly #parts: UploadsParts;
  readonly #courses = new Map<string, Course>();
  /** By upload: the visitor's own files need not be fetched again. */
  readonly #blobs = new Map<string, Blob>();
  #current: { readonly key: string; readonly abort: AbortController } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Ids of what was taken back, and the gateway is still to hear of. */
  readonly #removed: string[] = [];
  /** What was taken back makes room for the next one. */
  #removals: Promise<unknown> | undefined;

  constructor(parts: UploadsParts) {
    this.#parts = parts;
    this.reread();
  }

  /**
   * Shows the uploads that are in the storage, and no others. One that the server has forgotten by
   * now is uploaded once more; where its bytes are not here, it has failed.
   * @returns whether there are more files now, or fewer
   */
  reread(): boolean {
    const stored = this.#stored();
    const isIn = (files: readonly { key: string }[], key: string): boolean =>
      files.some((each) => each.key === key);
    const before = this.files.value;
    const files = before.flatMap((file): PendingFile | [] => {
      const { key, state } = file;
      if (state !== 'uploaded' || isIn(stored, key)) return file;
      if (!isIn(this.#stored(0), key)) return [];
      return { ...file, state: this.#courses.has(key) ? 'waiting' : 'failed', progress: 0 };
    });
    const added = stored.filter(({ key }) => !isIn(files, key));
    this.files.value = [
      ...files,
      ...added.map((file) => ({ ...file, state: 'uploaded' as const, progress: 1 })),
    ];
    this.resume();
    return added.length > 0 || files.length < before.length;
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
    this.files.value = this.files.value.filter((file) => file.key !== key);
    const stored = this.#stored();
    const upload = stored.find((each) => each.key === key);
    if (upload === undefined) return;
    this.#store(stored.filter((each) => each !== upload));
    this.#removed.push(upload.id);
    this.resume();
  }

  /** Takes the uploaded files out, for a message that carries them. */
  take(): AttachmentInfo[] {
    const stored = this.#stored();
    const taken = this.files.value.flatMap(({ key, blob }) => {
      const upload = stored.find((each) => each.key === key);
      if (upload === undefined) return [];
      if (blob) this.#blobs.set(upload.id, blob);
      return upload;
    });
    // Another tab may have put one beside them.
    this.#store(stored.filter((each) => !taken.includes(each)));
    this.#courses.clear();
    this.files.value = [];
    return taken.map(({ id, name, type, size }) => ({ id, name, type, size }));
  }

  /** The bytes of an upload; undefined when they cannot be had. */
  async open(uploadId: string, token: string | undefined): Promise<Blob | undefined> {
    return this.#blobs.get(uploadId) ?? this.#ask(uploadId, token);
  }

  /** Goes on, when there is something to do and a connection to do it. */
  resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const token = this.#parts.token();
    if (token === undefined) return;
    // They would count among those that wait, for a day.
    const removals = this.#removed.splice(0).map((id) => this.#ask(id, token, true));
    this.#removals = Promise.all([this.#removals, ...removals]);
    const next = this.files.value.find(({ state }) => state === 'waiting');
    if (next === undefined || this.#current !== undefined) return;
    const course = this.#courses.get(next.key);
    if (course !== undefined) void this.#upload(next.key, course, token);
  }

  /** What was uploaded belongs to a visitor who has gone: once more, for the one who is here. */
  restart(): void {
    this.#current?.abort.abort();
    // Of what an earlier page has uploaded the bytes are not here.
    this.files.value = this.files.value.filter(({ key }) => this.#courses.has(key));
    for (const { key, state } of this.files.value) {
      if (state !== 'failed') this.#change(key, { state: 'waiting', progress: 0 });
    }
    this.reread();
  }

  /** What this tab has belongs to a visitor who has gone: from now on it shows what is stored. */
  clear(): void {
    this.#current?.abort.abort();
    this.#courses.clear();
    this.files.value = [];
    this.reread();
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
    await this.#removals;
    const isAborted = (): boolean => abort.signal.aborted;
    const answer = await (isAborted()
      ? undefined
      : request({
          url,
          token,
          file: course.file,
          signal: abort.signal,
          onProgress: (progress) => {
            if (!isAborted()) this.#change(key, { progress });
          },
        }));
    this.#current = undefined;
    if (answer && !isAborted()) this.#settle(key, course, answer);
    if (this.#timer === undefined) this.resume();
  }

  #settle(key: string, course: Course, { status, body }: UploadAnswer): void {
    const info = status === 201 ? asUpload(parsed(body)) : undefined;
    if (info !== undefined) {
      this.#store([...this.#stored(), { ...info, key, at: this.#parts.now() }]);
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

  /** Read anew each time: another tab may have put one beside it. */
  #stored(since = this.#parts.now() - KEPT_MS): StoredUpload[] {
    const stored = this.#parts.storage.get(FILES);
    return Array.isArray(stored) ? stored.filter((each) => isStored(each, since)) : [];
  }

  #store(uploads: readonly StoredUpload[]): void {
    const { storage } = this.#parts;
    if (uploads.length === 0) storage.remove(FILES);
    else storage.set(FILES, uploads);
  }

  /** The bytes that are answered; undefined when there are none, or no answer. */
  async #ask(
    id: string,
    token: string | undefined,
    isRemoval?: boolean,
  ): Promise<Blob | undefined> {
    // A browser's `fetch` is a method of its window.
    const { url, fetch = globalThis.fetch.bind(globalThis) } = this.#parts;
    if (token === undefined) return undefined;
    try {
      const headers = { authorization: `Bearer ${token}` };
      const init = isRemoval && {
        method: 'DELETE',
        signal: AbortSignal.timeout(REMOVAL_TIMEOUT_MS),
      };
      const answer = await fetch(`${url}/${encodeURIComponent(id)}`, { ...init, headers });
      return answer.ok ? await answer.blob() : undefined;
    } catch {
      return undefined;
    }
  }

  #change(key: string, change: Partial<PendingFile>): void {
    this.files.value = this.files.value.map((file) =>
      file.key === key ? { ...file, ...change } : file,
    );
  }
}

function isStored(value: unknown, since: number): value is StoredUpload {
  if (asUpload(value) === undefined) return false;
  const { key, at } = value as Partial<StoredUpload>;
  return typeof key === 'string' && Number(at) > since;
}

function asUpload(value: unknown): Upload | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, name, type, size } = value as Partial<Record<keyof AttachmentInfo, unknown>>;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof type !== 'string') return;
  return { id, name, type, size: Number(size) };
}
