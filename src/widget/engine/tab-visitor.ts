import { batch, type ReadonlySignal, signal } from '@preact/signals-core';
import type { HandshakeAuth, SessionEvent } from '../../channels/chat/events.ts';
import { type SafeStorage, SESSION } from '../storage.ts';

/** The browser's visitor, as it is stored. */
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

const LAST = 'last';
export const SEEN = 'seen';
export const BREAKS = 'breaks';

/**
 * Values that are stored for a visitor, together with the visitor's id. A value of another visitor
 * is treated as missing.
 */
class VisitorNotes {
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
 * The tab's visitor, and what is remembered about them. All of it is in the storage, which decides
 * when tabs disagree.
 */
export class TabVisitor {
  readonly #key: string;
  readonly #storage: SafeStorage;
  readonly #notes: VisitorNotes;
  readonly #session = signal<SessionEvent | undefined>(undefined);
  readonly #seen = signal(0);
  readonly #breaks = signal<readonly number[]>([]);
  readonly #changes = signal(0);
  #shown: StoredSession | undefined;
  /** A JWT that the server has not answered yet. */
  #identity: string | undefined;
  /** The JWT that the server has accepted. */
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

  /** Also before there is a session: as it is stored, or as the page has said. */
  get isKnown(): boolean {
    const { verified = false, name }: Partial<StoredSession> =
      this.#session.value ?? this.#shown ?? {};
    const isNamed = verified || name !== undefined || this.#identity !== undefined;
    return isNamed || this.#notes.number(LAST, this.#shown?.visitorId) > 0;
  }

  /** How often the tab has shown another visitor, or none, than before. */
  get changes(): ReadonlySignal<number> {
    return this.#changes;
  }

  /** The last line that this visitor has seen in any tab of this browser. */
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

  /** Who writes a message now; undefined: the visitor of the next session. */
  get writesAs(): string | undefined {
    return this.#identity === undefined ? this.#shown?.visitorId : undefined;
  }

  /** @returns false when the JWT is already known */
  identify(jwt: string): boolean {
    if (jwt === this.#identity || jwt === this.#accepted) return false;
    this.#identity = jwt;
    return true;
  }

  forgetIdentity(): void {
    this.#identity = undefined;
  }

  /** The next handshake's data. @param top the last line that the tab has; 0 without one */
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

  classifySession(session: SessionEvent): SessionKind {
    return classifySession({
      asked: this.#asked,
      stored: this.stored,
      shown: this.#shown,
      session,
    });
  }

  /** Keeps the session, and stores it for the other tabs and the next page. */
  save(session: SessionEvent): void {
    const { identity } = this.#asked;
    const isSame = session.visitorId === this.#shown?.visitorId;
    this.#accepted = identity ?? (isSame ? this.#accepted : undefined);
    if (identity === this.#identity) this.#identity = undefined;
    this.#write(session);
  }

  /** Applies a change that the server has made to the session. */
  update(change: Partial<SessionEvent>): void {
    const session = this.#session.peek();
    if (session !== undefined) this.#write({ ...session, ...change });
  }

  /** Another tab has stored a newer session of the same visitor. */
  refresh(stored: StoredSession): void {
    this.#shown = stored;
    const session = this.#session.peek();
    if (session !== undefined) this.#session.value = { ...session, ...stored };
  }

  /** Makes the tab show another visitor, or none. */
  switchTo(visitor: StoredSession | undefined): void {
    this.#shown = visitor;
    this.#accepted = undefined;
    batch(() => {
      this.#session.value = undefined;
      this.#changes.value += 1;
      this.reread();
    });
  }

  /** Removes what is remembered about lines: the server has lost them. */
  forgetNotes(): void {
    for (const name of [LAST, SEEN, BREAKS]) this.#storage.remove(name);
    this.reread();
  }

  /** Reads what other tabs have stored. */
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
    const isOther = this.#shown !== undefined && this.#shown.visitorId !== visitorId;
    this.#shown = { token, visitorId, verified, ...labels };
    this.#storage.set(SESSION, this.#shown);
    batch(() => {
      this.#session.value = session;
      if (isOther) this.#changes.value += 1;
      this.reread();
    });
  }
}

/**
 * What a new session means for the tab. `same`: the visitor that the tab shows; `other`: another
 * visitor; `reset`: the same visitor, but the server has lost lines; `stale`: meanwhile another tab
 * has switched to another visitor or logged out, so that this session is not used.
 */
type SessionKind = 'same' | 'other' | 'reset' | 'stale';

interface SessionCase {
  /** The handshake that the session answers. */
  readonly asked: HandshakeAuth;
  /** The session in the storage now, which is valid for all tabs. */
  readonly stored: StoredSession | undefined;
  /** The visitor that the tab shows. */
  readonly shown: StoredSession | undefined;
  readonly session: SessionEvent;
}

export function classifySession({ asked, stored, shown, session }: SessionCase): SessionKind {
  const hasMovedOn = stored?.token !== asked.token && stored?.visitorId !== session.visitorId;
  if (hasMovedOn && asked.identity === undefined) return 'stale';
  if (shown !== undefined && shown.visitorId !== session.visitorId) return 'other';
  return session.lastSeq < (asked.lastSeq ?? 0) ? 'reset' : 'same';
}
