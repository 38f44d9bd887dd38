import { computed, signal, untracked } from '@preact/signals-core';
import {
  type AttachmentInfo,
  type ErrorWord,
  type HandshakeAuth,
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_TEXT,
  type MessageEvent,
  type ProfileRequest,
  type SessionEvent,
  UPLOAD_PATH,
} from '../../channels/chat/events.ts';
import { gatewayAddress, parsed, SafeStorage, SESSION, storagePrefix } from '../storage.ts';
import type { Chat, ChatOptions, ConnectionState, Line, SendRefusal } from './chat.ts';
import { Connection, untilOnline } from './connection.ts';
import { Conversation } from './conversation.ts';
import { mergeLines } from './line-record.ts';
import { DRAFT, Draft, isLonger, newId, Outbox } from './outbox.ts';
import { listenToPage, uploadByXhr } from './page.ts';
import { LEASE, SeenReporter, Sender, SendLease } from './sender.ts';
import { asStoredSession, BREAKS, SEEN, type StoredSession, TabVisitor } from './tab-visitor.ts';
import { TIMING, type Timing } from './timing.ts';
import { FILES, Uploads } from './uploads.ts';

const LIMITS = { text: MAX_TEXT, files: MAX_FILES, fileBytes: MAX_FILE_BYTES };

/** @throws {TypeError} `gatewayUrl` is not a URL */
export function createChat(options: ChatOptions): Chat {
  return new WidgetChat(options);
}

class WidgetChat implements Chat {
  readonly connection = signal<ConnectionState>({ state: 'idle' });
  readonly lines = computed(() => this.#lines());
  readonly unread = computed(() => this.#unread());

  readonly #now: () => number;
  readonly #timing: Timing;
  readonly #storage: SafeStorage;
  readonly #visitor: TabVisitor;
  readonly #draft: Draft;
  readonly #outbox: Outbox;
  readonly #link: Connection;
  readonly #conversation: Conversation;
  readonly #sender: Sender;
  readonly #seenReporter: SeenReporter;
  readonly #uploads: Uploads;
  readonly #unlisten: () => void;
  #isStarted = false;
  #isHidden = false;
  /** The visitor was forgotten in another tab. */
  #isFollower = false;

  constructor(options: ChatOptions) {
    const { gatewayUrl, key, refused, now = Date.now, upload = uploadByXhr } = options;
    const timing = { ...TIMING, ...options.timing };
    const { leaseMs, reconnectMs: retryMs } = timing;
    const address = gatewayAddress(gatewayUrl);
    const storage = new SafeStorage(options.storage, storagePrefix(gatewayUrl, key));
    const visitor = new TabVisitor(key, storage);
    const outbox = new Outbox(storage);
    const session = (): SessionEvent | undefined => this.#connectedAs();
    const link = new Connection({
      ...{ address, timing, now, refused },
      auth: () => this.#auth(),
      onState: (state) => this.#connectionChanged(state),
      onSession: (greeting) => this.#acceptSession(greeting),
      onMessage: (message) => this.#messageReceived(message),
      onStatus: (status) => this.#conversation.mark(status),
      onUpdate: (update) => this.#conversation.revise(update),
      onBadIdentity: () => visitor.forgetIdentity(),
    });
    this.#now = now;
    this.#timing = timing;
    this.#storage = storage;
    this.#visitor = visitor;
    this.#outbox = outbox;
    this.#link = link;
    this.#draft = new Draft(storage);
    this.#conversation = new Conversation({
      history: (request) => link.request('history', request),
      onTop: (top) => {
        outbox.settle(top);
        visitor.noteLast(top);
      },
      retryMs,
    });
    this.#sender = new Sender({
      ...{ outbox, leaseMs, now },
      lease: new SendLease(storage, newId(), leaseMs, now),
      visitorId: () => session()?.visitorId,
      request: (message) => link.request('message', message),
      pageInfo: options.pageInfo,
      onNoAnswer: () => link.drop(),
    });
    this.#seenReporter = new SeenReporter({
      ...{ visitor, session, delayMs: timing.seenMs },
      request: (seen) => link.request('seen', seen),
    });
    this.#uploads = new Uploads({
      url: address.origin + address.basePath + UPLOAD_PATH,
      ...{ request: upload, fetch: options.fetch, retryMs, storage, now },
      limits: () => this.#limits(),
      token: () => session()?.token,
      renewToken: () => link.restart(),
    });
    this.#unlisten = listenToPage(options.page, options.storage, {
      onBack: (isFromCache) => this.#pageReturned(isFromCache),
      onOffline: () => link.drop(true),
      onHide: () => this.#pageHidden(),
      onStored: (name, json) => this.#storageChanged(name, json),
    });
  }

  get visitorChanges(): Chat['visitorChanges'] {
    return this.#visitor.changes;
  }

  get session(): Chat['session'] {
    return this.#visitor.session;
  }

  get isKnown(): boolean {
    return this.#visitor.isKnown;
  }

  get breaks(): Chat['breaks'] {
    return this.#visitor.breaks;
  }

  get older(): Chat['older'] {
    return this.#conversation.older;
  }

  get files(): Chat['files'] {
    return this.#uploads.files;
  }

  get draft(): Chat['draft'] {
    return this.#draft.text;
  }

  start(): void {
    this.#isStarted = true;
    if (!this.#isHidden) this.#link.start(this.#isFollower);
    this.#isFollower = false;
  }

  setDraft(text: string): void {
    this.#draft.write(text);
  }

  send(): SendRefusal | undefined {
    const text = this.draft.peek().trim();
    const isChanged = this.#uploads.reread();
    const files = this.files.peek();
    const refusal = this.#refusalOf(text);
    if (refusal === 'too_large' || (refusal === 'empty' && files.length === 0)) return refusal;
    if (files.some(({ state }) => state === 'failed')) return 'failed_file';
    if (files.some(({ state }) => state !== 'uploaded')) return 'uploading';
    if (isChanged) return 'changed';
    this.#post(text, this.#uploads.take());
    this.setDraft('');
    return undefined;
  }

  say(words: string): 'empty' | 'too_large' | undefined {
    const text = words.trim();
    const refusal = this.#refusalOf(text);
    if (refusal === undefined) this.#post(text, []);
    return refusal;
  }

  retry(id: string): void {
    const item = this.#outbox.find(id);
    if (item?.error === undefined) return;
    const { error: _, visitorId: __, ...rest } = item;
    const visitorId = this.#visitor.writesAs;
    this.#outbox.put({ ...rest, ...(visitorId !== undefined && { visitorId }) });
    this.start();
    this.#sender.pump();
  }

  discard(id: string): void {
    const line = this.lines.peek().find((each) => each.id === id && each.seq === undefined);
    if (line?.state !== 'failed' && line?.state !== 'queued') return;
    this.#outbox.remove(id);
    this.#sender.pump();
  }

  attach(files: Iterable<File>): void {
    this.#uploads.add(files);
  }

  retryFile(key: string): void {
    this.#uploads.retry(key);
  }

  removeFile(key: string): void {
    this.#uploads.remove(key);
  }

  async open({ id, url }: AttachmentInfo): Promise<Blob | undefined> {
    if (url !== undefined) return this.#uploads.fetch(url);
    return id === undefined ? undefined : this.#uploads.open(id, this.#visitor.shown?.token);
  }

  loadOlder(): Promise<void> {
    return this.#conversation.loadOlder();
  }

  markSeen(): void {
    const { top } = this.#conversation;
    if (top <= untracked(() => this.#seenSeq())) return;
    this.#visitor.noteSeen(top);
    this.#seenReporter.schedule();
  }

  async newConversation(): Promise<boolean> {
    // Unsent messages belong to the old conversation.
    if (!(await this.#sender.drained())) return false;
    const answer = await this.#link.request('new_conversation');
    if (answer?.ok !== true) return false;
    const { top } = this.#conversation;
    if (top > 0) this.#visitor.noteBreak(top);
    return true;
  }

  async rate(value: number, comment: string): Promise<boolean> {
    // Unsent messages belong to the conversation that is rated.
    if (!(await this.#sender.drained())) return false;
    const words = comment.trim();
    const answer = await this.#link.request('rate', { value, ...(words && { comment: words }) });
    return answer?.ok === true;
  }

  async setProfile(
    profile: { name?: string; email?: string },
    notify?: ProfileRequest['notify'],
  ): Promise<ErrorWord | 'confirms' | undefined> {
    await untilOnline(this.connection, this.#timing.ackTimeoutMs);
    const answer = await this.#link.request('profile', { ...profile, notify });
    if (answer?.ok !== true) return answer?.error ?? 'busy';
    this.#visitor.update(profile);
    return answer.confirms && 'confirms';
  }

  identify(jwt: string): void {
    if (!this.#visitor.identify(jwt)) return;
    this.#isStarted = true;
    this.#link.restart();
  }

  logout(): void {
    for (const name of this.#storage.names()) this.#storage.remove(name);
    this.#forgetVisitor(true);
  }

  stop(): void {
    this.#isStarted = false;
    this.#unlisten();
    this.#link.stop();
    this.#sender.stop();
    this.#conversation.stop();
    this.#uploads.stop();
    this.#seenReporter.stop();
  }

  #refusalOf(text: string): 'empty' | 'too_large' | undefined {
    if (text === '') return 'empty';
    return isLonger(text, this.#limits().text) ? 'too_large' : undefined;
  }

  #post(text: string, files: readonly AttachmentInfo[]): void {
    const visitorId = this.#visitor.writesAs;
    this.#outbox.add({
      ...{ id: newId(), text, files, at: this.#now() },
      ...(visitorId !== undefined && { visitorId }),
    });
    this.start();
    this.#sender.pump();
  }

  #connectedAs(): SessionEvent | undefined {
    return this.#link.isOnline ? this.session.peek() : undefined;
  }

  #limits(): SessionEvent['limits'] {
    return this.session.peek()?.limits ?? LIMITS;
  }

  #auth(): HandshakeAuth {
    const { stored, shown } = this.#visitor;
    // Another tab has changed the visitor, and the storage event has not arrived yet.
    if (stored?.visitorId !== shown?.visitorId) this.#switchVisitor(stored);
    return this.#visitor.auth(this.#conversation.top);
  }

  /** @returns false when the session is out of date */
  #acceptSession(session: SessionEvent): boolean {
    const before = this.#visitor.shown;
    const greeting = this.#visitor.classifySession(session);
    if (greeting === 'stale') return false;
    if (greeting === 'other' && before !== undefined) {
      this.#conversation.clear();
      this.#handOver(before, session);
    } else if (greeting === 'reset') {
      this.#outbox.dropAcknowledged();
      this.#conversation.clear();
      this.#visitor.forgetNotes();
    }
    this.#outbox.claim(session.visitorId);
    this.#visitor.save(session);
    return true;
  }

  #connectionChanged(state: ConnectionState): void {
    this.connection.value = state;
    const session = this.#connectedAs();
    if (session !== undefined) {
      this.#conversation.connected(session);
      this.#uploads.resume();
      this.#seenReporter.schedule();
    }
    this.#sender.pump();
  }

  #messageReceived(message: MessageEvent): void {
    this.#conversation.add(message);
    // The line proves that the message was stored; the answer may be lost.
    if (message.from === 'visitor') this.#outbox.acknowledge(message.id, message.seq);
  }

  #lines(): readonly Line[] {
    const numbered = this.#conversation.lines.value;
    const session = this.connection.value.state === 'online' ? this.session.value : undefined;
    const head = session === undefined ? undefined : this.#outbox.head(session.visitorId);
    const isSending = head?.retryAt === undefined || head.id === this.#sender.inFlight;
    return mergeLines(numbered, this.#outbox.items.value, isSending ? head?.id : undefined);
  }

  #seenSeq(): number {
    return Math.max(this.#visitor.seen.value, this.session.value?.seenSeq ?? 0);
  }

  #unread(): number {
    const seen = this.#seenSeq();
    const isUnread = ({ from, seq = 0 }: Line): boolean => from === 'agent' && seq > seen;
    return this.#conversation.lines.value.filter(isUnread).length;
  }

  #pageReturned(isFromCache: boolean): void {
    if (!this.#isHidden && !isFromCache) {
      this.#link.checkNow();
      return;
    }
    this.#isHidden = false;
    const { stored, shown } = this.#visitor;
    if (stored?.visitorId !== shown?.visitorId) this.#storedSessionChanged(stored);
    this.#outbox.reread();
    this.#draft.reread();
    this.#uploads.reread();
    this.#visitor.reread();
    if (this.#isStarted) this.#link.start();
  }

  #pageHidden(): void {
    this.#isHidden = true;
    this.#link.stop();
  }

  /** Another tab has written to the storage: shows the same in this one. */
  #storageChanged(key: string | null, json: string | null): void {
    // Clearing the storage removes the session too.
    const name = key === null ? SESSION : this.#storage.nameOf(key);
    if (name === SESSION) this.#storedSessionChanged(asStoredSession(parsed(json)));
    else if (name === DRAFT) this.#draft.reread();
    else if (name === FILES) this.#uploads.reread();
    else if (name === SEEN || name === BREAKS) this.#visitor.reread();
    else if (name === LEASE) this.#sender.pump();
    else if (name !== undefined && this.#outbox.onStored(name, json)) this.#sender.pump();
  }

  #storedSessionChanged(stored: StoredSession | undefined): void {
    if (stored === undefined) {
      this.#forgetVisitor();
    } else if (stored.visitorId !== this.#visitor.shown?.visitorId) {
      this.#switchVisitor(stored);
      if (this.#isStarted) this.#link.restart();
    } else {
      this.#visitor.refresh(stored);
    }
  }

  #switchVisitor(visitor: StoredSession | undefined): void {
    const before = this.#visitor.shown;
    this.#visitor.switchTo(visitor);
    this.#conversation.clear();
    if (visitor === undefined) {
      this.#outbox.clear();
      this.#storage.remove(FILES, this.#visitor.stored !== undefined);
      this.#storage.remove(DRAFT, true);
      this.#uploads.clear();
    } else if (before !== undefined) {
      this.#handOver(before, visitor);
    }
  }

  /** Unsent data: a guest keeps it when the visitor changes; a verified visitor's is removed. */
  #handOver(from: StoredSession, to: Pick<StoredSession, 'visitorId' | 'verified'>): void {
    this.#outbox.handOver(from, to.visitorId);
    // When another tab has switched first, the stored data already belongs to the new visitor.
    const isSwitched = this.#visitor.stored?.visitorId === to.visitorId;
    if (from.verified) {
      this.#storage.remove(DRAFT, isSwitched);
      this.#storage.remove(FILES, isSwitched);
      this.#draft.reread();
      this.#uploads.clear();
    } else if (!to.verified) {
      // The server keeps the uploads of a guest who identifies themselves, but not of a guest whom
      // it has forgotten.
      this.#storage.remove(FILES, isSwitched);
      this.#uploads.restart();
    }
  }

  #forgetVisitor(isLogout?: boolean): void {
    this.#visitor.forgetIdentity();
    this.#switchVisitor(undefined);
    this.#draft.reread();
    this.#isStarted = false;
    this.#isFollower = !isLogout;
    // Last, since an open panel connects again at once, as a new visitor: also on a page from the
    // browser's cache, which is idle already.
    this.#link.stop(isLogout);
    if (this.connection.peek().state === 'idle') this.connection.value = { state: 'idle' };
  }
}
