import type { ReadonlySignal } from '@preact/signals-core';
import type {
  AttachmentInfo,
  Author,
  Choice,
  ErrorWord,
  PageInfo,
  ProfileRequest,
  SessionEvent,
  WidgetRefusal,
} from '../../channels/chat/events.ts';
import type { Timing } from './timing.ts';
import type { UploadRequest } from './page.ts';

/**
 * The engine's interface. The engine keeps the session, the outbox and the connection, and does not
 * use the DOM; the panel draws these signals and calls these functions. Each tab of a visitor has
 * one engine, and all tabs show the same.
 */
export interface Chat {
  readonly connection: ReadonlySignal<ConnectionState>;
  /** The last `session` of the server; undefined before the first one, and after `logout`. */
  readonly session: ReadonlySignal<SessionEvent | undefined>;
  /** How often another visitor, or none, has been shown than before: also without a session. */
  readonly visitorChanges: ReadonlySignal<number>;
  /**
   * The visitor has a name or a conversation, or the page says who they are; also before there is a
   * session. Not a signal: it changes with `session` and `connection`.
   */
  readonly isKnown: boolean;
  /** In display order: the lines that the server has numbered by `seq`, then the outbox. */
  readonly lines: ReadonlySignal<readonly Line[]>;
  /** Whether older lines can be fetched. */
  readonly older: ReadonlySignal<'unknown' | 'some' | 'loading' | 'none'>;
  /** How many replies came after the last line that this visitor has seen in any tab. */
  readonly unread: ReadonlySignal<number>;
  /** A conversation begins after each of these numbers (`newConversation`). */
  readonly breaks: ReadonlySignal<readonly number[]>;
  /** The next message's files; uploaded ones survive a reload. */
  readonly files: ReadonlySignal<readonly PendingFile[]>;
  /** Text that is typed and not sent; it survives a reload. */
  readonly draft: ReadonlySignal<string>;

  /** Connects, unless it already has. `send` and `identify` do so too. */
  start(): void;
  setDraft(text: string): void;
  /**
   * Moves the draft and the uploaded files into the outbox. A message is sent from there until it
   * is acknowledged, across reloads.
   * @returns the reason when nothing is sent: there is nothing to send, it is too long, a file is
   *   still being uploaded, or another tab has just changed the files (`files` shows them now)
   */
  send(): SendRefusal | undefined;
  /**
   * Sends a text that was not typed: a starter question, or words of the page. Draft and files stay.
   * @returns the reason when nothing is sent
   */
  say(text: string): 'empty' | 'too_large' | undefined;
  /**
   * Sends a failed line again, in its old place. Only a line without `seq`: when the gateway has
   * accepted a message and the platform has not, the shop's operator sends it again.
   */
  retry(id: string): void;
  /** Removes a failed or queued line from the outbox; not a line with a `seq`. */
  discard(id: string): void;
  attach(files: Iterable<File>): void;
  retryFile(key: string): void;
  removeFile(key: string): void;
  /** The bytes of a line's file; undefined when they are no longer available. */
  open(file: AttachmentInfo): Promise<Blob | undefined>;
  /** Resolves when older lines are in `lines`, or could not be fetched. */
  loadOlder(): Promise<void>;
  /** Marks all lines as seen. */
  markSeen(): void;
  /**
   * Starts one after the outbox is empty. False: not now (no connection, or the server is busy).
   */
  newConversation(): Promise<boolean>;
  /** Rates the current conversation, from 1 to 5. False: not now. */
  rate(value: number, comment: string): Promise<boolean>;
  /**
   * Waits a while for a connection.
   * @param notify asks for replies at the email once the visitor has left
   * @returns `busy` when there was no connection or no answer; `confirms` when an email has been sent
   *   to confirm the address of `notify`
   */
  setProfile(
    profile: { name?: string; email?: string },
    notify?: ProfileRequest['notify'],
  ): Promise<ErrorWord | 'confirms' | undefined>;
  /**
   * Connects as the customer whom the shop's own server names in the JWT. When the gateway rejects
   * the JWT, `connection` is `refused` with `bad_identity` for a moment, and the visitor is
   * unchanged.
   */
  identify(jwt: string): void;
  /**
   * Forgets the visitor in every tab. Each tab is `idle` then, until `start`, `identify` or `send`
   * creates a new visitor.
   */
  logout(): void;
  /** Stops for good: no timer, listener or connection is left. */
  stop(): void;
}

export type ConnectionState =
  | { readonly state: 'idle' | 'connecting' | 'online' }
  /** Not connected; it reconnects by itself. */
  | { readonly state: 'offline' }
  /** The gateway refuses the connection; after `rate_limited` and `busy` it tries again. */
  | { readonly state: 'refused'; readonly code: string; readonly retryAt?: number };

export interface Line {
  /** The client's message id; of a reply, the platform's. */
  readonly id: string;
  /** Absent until the server has numbered it. */
  readonly seq?: number;
  readonly from: 'visitor' | 'agent';
  readonly text: string;
  readonly format: 'TEXT' | 'MARKDOWN' | 'HTML';
  readonly files: readonly AttachmentInfo[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of a reply whose author the platform names. */
  readonly author?: Author;
  /** Of a reply that is a question: a press sends the text. */
  readonly choices?: readonly Choice[];
  /** Of a reply whose text has changed: the number of the change. */
  readonly rev?: number;
  /**
   * `queued`: waits for the connection or for earlier messages; `sending`: not acknowledged yet;
   * `accepted`: stored by the gateway; `delivered`: at the platform; `seen`: by a person there;
   * `failed`: see `error`. A reply is always `delivered`.
   */
  readonly state: 'queued' | 'sending' | 'accepted' | 'delivered' | 'seen' | 'failed';
  /** Why the gateway refused the message; absent when the platform did not accept it. */
  readonly error?: ErrorWord;
  /** When a refused message is sent again automatically; milliseconds since the epoch. */
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
  /**
   * Why it failed. A failed file without it cannot be retried: this tab does not have its bytes.
   */
  readonly error?: FileError;
  /** The bytes, for a preview; absent when an earlier page or another tab uploaded the file. */
  readonly blob?: Blob;
}

export type FileError = 'too_large' | 'too_many' | 'unsupported' | 'rate_limited' | 'failed';

export type SendRefusal = 'empty' | 'too_large' | 'uploading' | 'failed_file' | 'changed';

export interface ChatOptions {
  /** The gateway's public URL; its path, if it has one, is kept. */
  readonly gatewayUrl: string;
  /** The shop's widget key. */
  readonly key: string;
  /** `localStorage`; undefined where the browser forbids it: everything is kept in memory then. */
  readonly storage: Storage | undefined;
  /** The window, which dispatches `storage`, `online`, `pageshow` and the like. */
  readonly page: EventTarget | undefined;
  /** The gateway has said that this page may not connect: the chat is refused when it starts. */
  readonly refused?: WidgetRefusal | undefined;
  /** For shops that want to know where a visitor writes. */
  readonly pageInfo?: (() => PageInfo) | undefined;
  readonly upload?: UploadRequest;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
  readonly timing?: Partial<Timing>;
}
