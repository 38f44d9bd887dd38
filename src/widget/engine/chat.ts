import type { ReadonlySignal } from '@preact/signals-core';
import type { AttachmentInfo, ErrorWord, SessionEvent } from '../../channels/chat/events.ts';
import type { Timing } from './timing.ts';
import type { UploadRequest } from './upload-request.ts';

/**
 * The conversation as a page sees it. The engine behind it keeps the session, the outbox and the
 * connection and knows no page; the page draws these signals and calls these functions. Every tab
 * of a visitor has one, and all of them show the same.
 */
export interface Chat {
  readonly connection: ReadonlySignal<ConnectionState>;
  /** The last `session` of the server; undefined before the first one, and after `logout`. */
  readonly session: ReadonlySignal<SessionEvent | undefined>;
  /** In the order to show: what the server has numbered by `seq`, then the outbox as it was written. */
  readonly lines: ReadonlySignal<readonly Line[]>;
  /** Whether older lines can be fetched. */
  readonly older: ReadonlySignal<'unknown' | 'some' | 'loading' | 'none'>;
  /** Replies that came after what this visitor has seen, in any tab. */
  readonly unread: ReadonlySignal<number>;
  /** A conversation begins after each of these numbers (`newConversation`). */
  readonly breaks: ReadonlySignal<readonly number[]>;
  /** Files that the next message will carry; those that are uploaded survive a reload. */
  readonly files: ReadonlySignal<readonly PendingFile[]>;
  /** What is typed and not sent; it survives a reload. */
  readonly draft: ReadonlySignal<string>;

  /** Begins to connect; harmless when it already has. `send` and `identify` do it too. */
  start(): void;
  setDraft(text: string): void;
  /**
   * Puts the draft and the uploaded files into the outbox, from where they are sent until they are
   * acknowledged, across reloads.
   * @returns why not, when there is nothing to send, it is too long, a file is still on its way, or
   *   another tab has just changed the files, which are shown now
   */
  send(): SendRefusal | undefined;
  /**
   * Sends a line again that has failed, in its old place. Only a line without `seq`: one that the
   * gateway has taken and the platform has not is for the shop's operator to send again.
   */
  retry(id: string): void;
  /** Takes a line out of the outbox that has failed, or has not left yet; not one with a `seq`. */
  discard(id: string): void;
  attach(files: Iterable<File>): void;
  retryFile(key: string): void;
  removeFile(key: string): void;
  /** The bytes of a file of a line, for a picture; undefined when they cannot be had any more. */
  open(file: AttachmentInfo): Promise<Blob | undefined>;
  /** Resolves when they are in `lines`, or cannot be had now. */
  loadOlder(): Promise<void>;
  /** Everything that is shown has been looked at. */
  markSeen(): void;
  /** Once what waits has been sent. False: not now (no connection, or the server is busy). */
  newConversation(): Promise<boolean>;
  /** Waits a while for a connection; `busy` when there was none, or no answer. */
  setProfile(profile: { name?: string; email?: string }): Promise<ErrorWord | undefined>;
  /**
   * Connects as the person whom the shop's own server vouches for. When the server does not believe
   * it, `connection` is `refused` with `bad_identity` for a moment, and the visitor stays who he is.
   */
  identify(jwt: string): void;
  /**
   * Forgets the visitor, in every tab; each is `idle` then, until `start`, `identify` or `send`
   * makes a new one.
   */
  logout(): void;
  /** The end: no timer, listener or connection is left. */
  stop(): void;
}

export type ConnectionState =
  | { readonly state: 'idle' | 'connecting' | 'online' }
  /** Was or will be online; it tries again by itself. */
  | { readonly state: 'offline' }
  /** The server does not let this page in; `rate_limited` and `busy` are tried again. */
  | { readonly state: 'refused'; readonly code: string; readonly retryAt?: number };

export interface Line {
  /** The client's message id, or the platform's of a reply. */
  readonly id: string;
  /** Absent until the server has numbered it. */
  readonly seq?: number;
  readonly from: 'visitor' | 'agent';
  readonly text: string;
  readonly format: 'TEXT' | 'MARKDOWN' | 'HTML';
  readonly files: readonly AttachmentInfo[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /**
   * `queued`: waits for the connection or its turn; `sending`: not acknowledged yet; `accepted`:
   * durable at the gateway; `delivered`: at the platform; `failed`: see `error`. A reply is always
   * `delivered`.
   */
  readonly state: 'queued' | 'sending' | 'accepted' | 'delivered' | 'failed';
  /** Why a line of the outbox was refused; absent when the platform did not take it. */
  readonly error?: ErrorWord;
  /** When a refused line is sent again by itself; milliseconds since the epoch. */
  readonly retryAt?: number;
}

export interface PendingFile {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly state: 'waiting' | 'uploading' | 'uploaded' | 'failed';
  /** 0 to 1. */
  readonly progress: number;
  /** Absent from one that has failed: its bytes are not here to be tried again. */
  readonly error?: FileError;
  /** The bytes, for a preview; an earlier page, or another tab, has had them. */
  readonly blob?: Blob;
}

export type FileError = 'too_large' | 'too_many' | 'unsupported' | 'rate_limited' | 'failed';

export type SendRefusal = 'empty' | 'too_large' | 'uploading' | 'failed_file' | 'changed';

export interface ChatOptions {
  /** The gateway's public URL; its path, if it has one, is kept. */
  readonly gatewayUrl: string;
  /** The widget's. */
  readonly key: string;
  /** `localStorage`; undefined where a browser forbids it: then all is kept in memory. */
  readonly storage: Storage | undefined;
  /** Where `storage`, `online`, `pageshow` and the like are heard; the window. */
  readonly page: EventTarget | undefined;
  readonly upload?: UploadRequest;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
  readonly timing?: Partial<Timing>;
}
