import { batch, type ReadonlySignal, signal } from '@preact/signals-core';
import type { HandshakeAuth, SessionEvent } from '../../channels/chat/events.ts';
import { type Greeting, greetingOf } from './greeting.ts';
import type { SafeStorage } from './safe-storage.ts';
import { SESSION } from './storage-names.ts';
import {
  asStoredSession,
  BREAKS,
  LAST,
  SEEN,
  type StoredSession,
  VisitorNotes,
} from './visitor-notes.ts';

/**
 * Who the tab's lines belong to, and what is remembered about him: all of it in the storage, which
 * has the last word when tabs disagree.
 */
export class TabVisitor {
  readonly #key: string;
  readonly #storage: SafeStorage;
  readonly #notes: VisitorNotes;
  readonly #session = signal<SessionEvent | undefined>(undefined);
  readonly #seen = signal(0);
  readonly #breaks = signal<readonly number[]>([]);
  #shown: StoredSession | undefined;
  /** Not shown to the server yet. */
  #identity: string | undefined;
  /** What the server has believed. */
  #accepted: string | undefined;
  #asked: HandshakeAuth;

  constructor(key: string, storage: SafeStorage) {
    this.#key = key;
    this.#storage = storage;
    this.#notes = new VisitorNotes(storage);
    this.#asked = { key };
    this.#shown = this.stored;
    this.reread();
  }

  get session(): ReadonlySignal<SessionEvent | undefined> {
    return this.#session;
  }

  /** What this visitor has looked at in a tab of this browser. */
  get seen(): ReadonlySignal<number> {
    return this.#seen;
  }

  get breaks(): ReadonlySignal<readonly number[]> {
    return this.#breaks;
  }

  get shown(): StoredSession | undefined {
    return this.#shown;
  }

  get stored(): StoredSession | undefined {
    return asStoredSession(this.#storage.get(SESSION));
  }

  /** As whom a message is written; undefined: as whoever the next session says. */
  get writesAs(): string | undefined {
    return this.#identity === undefined ? this.#shown?.visitorId : undefined;
  }

  /** @returns false when there is nothing new in it */
  identify(jwt: string): boolean {
    if (jwt === this.#identity || jwt === this.#accepted) return false;
    this.#identity = jwt;
    return true;
  }

  forgetIdentity(): void {
    this.#identity = undefined;
  }

  /** For the next handshake. @param top the last line that the tab has; 0 without one */
  auth(top: number): HandshakeAuth {
    const { stored } = this;
    const lastSeq = top || this.#notes.number(LAST, stored?.visitorId);
    this.#asked = {
      key: this.#key,
      ...(stored !== undefined && { token: stored.token, lastSeq }),
      ...(this.#identity !== undefined && { identity: this.#identity }),
    };
    return this.#asked;
  }

  greetingOf(session: SessionEvent): Greeting {
    return greetingOf({ asked: this.#asked, stored: this.stored, shown: this.#shown, session });
  }

  /** Takes a session over, and writes it down for the other tabs and the next page. */
  keep(session: SessionEvent): void {
    const { identity } = this.#asked;
    const isSame = session.visitorId === this.#shown?.visitorId;
    this.#accepted = identity ?? (isSame ? this.#accepted : undefined);
    if (identity === this.#identity) this.#identity = undefined;
    this.#write(session);
  }

  /** What the server has changed about this session. */
  update(change: Partial<SessionEvent>): void {
    const session = this.#session.peek();
    if (session !== undefined) this.#write({ ...session, ...change });
  }

  /** Another tab has written the session of the same visitor. */
  refresh(stored: StoredSession): void {
    this.#shown = stored;
    const session = this.#session.peek();
    if (session !== undefined) this.#session.value = { ...session, ...stored };
  }

  /** From now on the tab shows another visitor, or nobody. */
  become(visitor: StoredSession | undefined): void {
    this.#shown = visitor;
    this.#accepted = undefined;
    batch(() => {
      this.#session.value = undefined;
      this.reread();
    });
  }

  /** What was remembered of the lines says nothing any more. */
  forgetNotes(): void {
    for (const name of [LAST, SEEN, BREAKS]) this.#storage.remove(name);
    this.reread();
  }

  /** Takes over what other tabs have noted. */
  reread(): void {
    const visitorId = this.#shown?.visitorId;
    this.#seen.value = this.#notes.number(SEEN, visitorId);
    this.#breaks.value = this.#notes.numbers(BREAKS, visitorId);
  }

  noteLast(top: number): void {
    if (this.#shown !== undefined && top > 0) this.#notes.write(LAST, this.#shown.visitorId, top);
  }

  noteSeen(seq: number): void {
    if (this.#shown === undefined) return;
    this.#notes.write(SEEN, this.#shown.visitorId, seq);
    this.#seen.value = seq;
  }

  noteBreak(seq: number): void {
    if (this.#shown === undefined || this.#breaks.peek().includes(seq)) return;
    this.#breaks.value = [...this.#breaks.peek(), seq];
    this.#notes.write(BREAKS, this.#shown.visitorId, this.#breaks.peek());
  }

  #write(session: SessionEvent): void {
    const { token, visitorId, verified, name, email } = session;
    const labels = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
    this.#shown = { token, visitorId, verified, ...labels };
    this.#storage.set(SESSION, this.#shown);
    batch(() => {
      this.#session.value = session;
      this.reread();
    });
  }
}
