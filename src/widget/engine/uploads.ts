import { signal } from '@preact/signals-core';
import type { AttachmentInfo, SessionEvent } from '../../channels/chat/events.ts';
import { parsed, type SafeStorage } from '../storage.ts';
import type { FileError, PendingFile } from './chat.ts';
import { newId } from './outbox.ts';
import { backoffMs } from './timing.ts';
import type { UploadAnswer, UploadRequest } from './page.ts';

interface UploadsParts {
  readonly url: string;
  readonly request: UploadRequest;
  readonly fetch: typeof fetch | undefined;
  readonly limits: () => Pick<SessionEvent['limits'], 'files' | 'fileBytes'>;
  /** The token of the open connection's session; undefined without a connection. */
  readonly token: () => string | undefined;
  /** Called when the token was refused: reconnects, to get another one. */
  readonly renewToken: () => void;
  readonly retryMs: number;
  readonly storage: SafeStorage;
  readonly now: () => number;
}

export const FILES = 'files';
/**
 * The server keeps an unused file for a day; in the last hour the widget no longer relies on it.
 */
const KEPT_MS = 23 * 3_600_000;
/** For a removal, whose answer is not needed: the server removes an unused file after a day. */
const REMOVAL_TIMEOUT_MS = 10_000;

/** Per file, when uploads fail although there is a connection. */
const MAX_ATTEMPTS = 4;

const ERRORS: Readonly<Record<number, FileError>> = {
  413: 'too_large',
  415: 'unsupported',
  429: 'rate_limited',
};

/** A file that was attached in this tab, and its attempts so far. */
interface LocalFile {
  readonly file: File;
  attempts: number;
  hasRenewedToken: boolean;
}

type Upload = AttachmentInfo & { readonly id: string };

/** An uploaded file of the next message, as it is stored. */
interface StoredUpload extends Upload {
  /** Identifies the file in the tray, in every tab. */
  readonly key: string;
  readonly at: number;
}

/**
 * The files of the next message. They are uploaded one after the other, as soon as they are
 * attached and while there is a connection; an interrupted upload starts again with the next
 * connection. Uploaded files are stored, like the draft: all tabs and the next page show them.
 */
export class Uploads {
  readonly files = signal<readonly PendingFile[]>([]);
  readonly #parts: UploadsParts;
  readonly #localFiles = new Map<string, LocalFile>();
  /** By upload id, so that the visitor's own files need not be fetched again. */
  readonly #blobs = new Map<string, Blob>();
  #current: { readonly key: string; readonly abort: AbortController } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Ids of uploads that the visitor has removed, and the gateway not yet. */
  readonly #removed: string[] = [];
  /** Removals under way. The next upload waits for them: the server limits unused files. */
  #removals: Promise<unknown> | undefined;

  constructor(parts: UploadsParts) {
    this.#parts = parts;
    this.reread();
  }

  /**
   * Shows exactly the uploads that are in the storage. One that the server no longer keeps is
   * uploaded again, or has failed when this tab does not have its bytes.
   * @returns whether files were added or removed
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
      return { ...file, state: this.#localFiles.has(key) ? 'waiting' : 'failed', progress: 0 };
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
      this.#localFiles.set(key, { file, attempts: 0, hasRenewedToken: false });
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
    const local = this.#localFiles.get(key);
    const file = this.files.value.find((each) => each.key === key);
    if (local === undefined || file?.state !== 'failed') return;
    this.remove(key);
    this.add([local.file]);
  }

  remove(key: string): void {
    if (this.#current?.key === key) this.#current.abort.abort();
    this.#localFiles.delete(key);
    this.files.value = this.files.value.filter((file) => file.key !== key);
    const stored = this.#stored();
    const upload = stored.find((each) => each.key === key);
    if (upload === undefined) return;
    this.#store(stored.filter((each) => each !== upload));
    this.#removed.push(upload.id);
    this.resume();
  }

  /** Removes the uploaded files from the tray, for the message that carries them. */
  take(): AttachmentInfo[] {
    const stored = this.#stored();
    const taken = this.files.value.flatMap(({ key, blob }) => {
      const upload = stored.find((each) => each.key === key);
      if (upload === undefined) return [];
      if (blob) this.#blobs.set(upload.id, blob);
      return upload;
    });
    // Another tab may have added one.
    this.#store(stored.filter((each) => !taken.includes(each)));
    this.#localFiles.clear();
    this.files.value = [];
    return taken.map(({ id, name, type, size }) => ({ id, name, type, size }));
  }

  /** The bytes of an upload; undefined when they are not available. */
  async open(uploadId: string, token: string | undefined): Promise<Blob | undefined> {
    return this.#blobs.get(uploadId) ?? this.#ask(uploadId, token);
  }

  /** The bytes of a reply's file; undefined if it is not at the gateway, or not available. */
  async fetch(file: string): Promise<Blob | undefined> {
    // The page's policy allows requests to the gateway only.
    const isAtGateway =
      URL.canParse(file) && new URL(file).origin === new URL(this.#parts.url).origin;
    return isAtGateway ? this.#request(file, { credentials: 'omit' }) : undefined;
  }

  /** Starts the next removal and upload, when there is a connection. */
  resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const token = this.#parts.token();
    if (token === undefined) return;
    // Otherwise they would count as unused files for a day.
    const removals = this.#removed.splice(0).map((id) => this.#ask(id, token, true));
    this.#removals = Promise.all([this.#removals, ...removals]);
    const next = this.files.value.find(({ state }) => state === 'waiting');
    if (next === undefined || this.#current !== undefined) return;
    const local = this.#localFiles.get(next.key);
    if (local !== undefined) void this.#upload(next.key, local, token);
  }

  /**
   * The uploads belong to a visitor that the server has forgotten: uploads them again for the new
   * one.
   */
  restart(): void {
    this.#current?.abort.abort();
    // This tab does not have the bytes of files that an earlier page has uploaded.
    this.files.value = this.files.value.filter(({ key }) => this.#localFiles.has(key));
    for (const { key, state } of this.files.value) {
      if (state !== 'failed') this.#change(key, { state: 'waiting', progress: 0 });
    }
    this.reread();
  }

  /** Drops this tab's files, which belong to another visitor, and shows those that are stored. */
  clear(): void {
    this.#current?.abort.abort();
    this.#localFiles.clear();
    this.files.value = [];
    this.reread();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#current?.abort.abort();
  }

  async #upload(key: string, local: LocalFile, token: string): Promise<void> {
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
          file: local.file,
          signal: abort.signal,
          onProgress: (progress) => {
            if (!isAborted()) this.#change(key, { progress });
          },
        }));
    this.#current = undefined;
    if (answer && !isAborted()) this.#settle(key, local, answer);
    if (this.#timer === undefined) this.resume();
  }

  #settle(key: string, local: LocalFile, { status, body }: UploadAnswer): void {
    const info = status === 201 ? asUpload(parsed(body)) : undefined;
    if (info !== undefined) {
      this.#store([...this.#stored(), { ...info, key, at: this.#parts.now() }]);
      this.#change(key, { state: 'uploaded', progress: 1 });
    } else if (status === 401 && !local.hasRenewedToken) {
      local.hasRenewedToken = true;
      this.#change(key, { state: 'waiting', progress: 0 });
      this.#parts.renewToken();
    } else if (status === 0 || status >= 500) {
      this.#again(key, local);
    } else {
      this.#change(key, { state: 'failed', progress: 0, error: ERRORS[status] ?? 'failed' });
    }
  }

  #again(key: string, local: LocalFile): void {
    // A lost connection does not count as an attempt; the next connection resumes the upload.
    if (this.#parts.token() === undefined) {
      this.#change(key, { state: 'waiting', progress: 0 });
      return;
    }
    local.attempts += 1;
    if (local.attempts >= MAX_ATTEMPTS) {
      this.#change(key, { state: 'failed', progress: 0, error: 'failed' });
      return;
    }
    this.#change(key, { state: 'waiting', progress: 0 });
    const minMs = this.#parts.retryMs;
    const wait = backoffMs(local.attempts - 1, { minMs, maxMs: 8 * minMs });
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.resume();
    }, wait);
  }

  /** Read again each time: another tab may have added one. */
  #stored(since = this.#parts.now() - KEPT_MS): StoredUpload[] {
    const stored = this.#parts.storage.get(FILES);
    return Array.isArray(stored) ? stored.filter((each) => isStored(each, since)) : [];
  }

  #store(uploads: readonly StoredUpload[]): void {
    const { storage } = this.#parts;
    if (uploads.length === 0) storage.remove(FILES);
    else storage.set(FILES, uploads);
  }

  /** Fetches or removes an upload. @returns the body; undefined after an error */
  async #ask(
    id: string,
    token: string | undefined,
    isRemoval?: boolean,
  ): Promise<Blob | undefined> {
    if (token === undefined) return undefined;
    return this.#request(`${this.#parts.url}/${encodeURIComponent(id)}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(isRemoval && { method: 'DELETE', signal: AbortSignal.timeout(REMOVAL_TIMEOUT_MS) }),
    });
  }

  /** @returns the body; undefined after an error */
  async #request(url: string, init: RequestInit): Promise<Blob | undefined> {
    // `fetch` has to be called as a method of the window.
    const { fetch = globalThis.fetch.bind(globalThis) } = this.#parts;
    try {
      const answer = await fetch(url, init);
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
