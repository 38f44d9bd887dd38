import type { HandshakeAuth, SessionEvent } from '../../channels/chat/events.ts';
import { type SafeStorage, SESSION } from '../storage.ts';
import { batch, type ReadonlySignal, signal } from '@preact/signals-core';

/** Who this browser is, as it lies in the storage. */
export type StoredSession = Pick<
  SessionEvent,
  'token' | 'visitorId' | 'verified' | 'name' | 'email'
>;

export function asStoredSession(value: unknown): StoredSession | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { token, visitorId, verified, name, email } = value as Partial<
    Record<keyof StoredSession, unknown>
  >;
  if (typeof token !== 'string' || typeof visitorId !== 'string') return undefined;
  return {
    ...{ token, visitorId, verified: verified === true },
    ...(typeof name === 'string' && { name }),
    ...(typeof email === 'string' && { email }),
  };
}

export const LAST = 'last';
export const SEEN = 'seen';
export const BREAKS = 'breaks';

/**
 * What is remembered about a visitor under a name, with whose it is: another visitor's is as good
 * as none.
 */
export class VisitorNotes {
  readonly #storage: SafeStorage;

  constructor(storage: SafeStorage) {
    this.#storage = storage;
  }

  number(name: string, visitorId: string | undefined): number {
    const value = this.#read(name, visitorId);
    return typeof value === 'number' ? value : 0;
  }

  numbers(name: string, visitorId: string | undefined): readonly number[] {
    const value = this.#read(name, visitorId);
    return Array.isArray(value) ? value.filter((each) => typeof each === 'number') : [];
  }

  write(name: string, visitorId: string, value: number | readonly number[]): void {
    this.#storage.set(name, [visitorId, value]);
  }

  #read(name: string, visitorId: string | undefined): unknown {
    const stored = this.#storage.get(name);
    if (visitorId === undefined || !Array.isArray(stored) || stored[0] !== visitorId) return;
    return stored[1] as unknown;
  }
}

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

/**
 * What a session means for the tab that it greets. `stale`: meanwhile another tab has become
 * somebody else, or nobody; `other`: this is not the visitor whom the tab shows; `reset`: it is,
 * but the server has lost lines of his.
 */
export type Greeting = 'same' | 'other' | 'reset' | 'stale';

export interface GreetingCase {
  /** What the session answers. */
  readonly asked: HandshakeAuth;
  /** What is in the storage now: the last word of all tabs. */
  readonly stored: StoredSession | undefined;
  /** Whom the tab shows. */
  readonly shown: StoredSession | undefined;
  readonly session: SessionEvent;
}

export function greetingOf({ asked, stored, shown, session }: GreetingCase): Greeting {
  const hasMovedOn = stored?.token !== asked.token && stored?.visitorId !== session.visitorId;
  if (hasMovedOn && asked.identity === undefined) return 'stale';
  if (shown !== undefined && shown.visitorId !== session.visitorId) return 'other';
  return session.lastSeq < (asked.lastSeq ?? 0) ? 'reset' : 'same';
}
