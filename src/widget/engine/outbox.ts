import { type ReadonlySignal, signal } from '@preact/signals-core';
import { parsed, type SafeStorage } from '../storage.ts';
import type { AttachmentInfo, ErrorWord } from '../../channels/chat/events.ts';

export const DRAFT = 'draft';

/** What is typed and not sent, in all tabs. */
export class Draft {
  readonly #storage: SafeStorage;
  readonly #text = signal('');

  constructor(storage: SafeStorage) {
    this.#storage = storage;
    this.reread();
  }

  get text(): ReadonlySignal<string> {
    return this.#text;
  }

  write(text: string): void {
    this.#text.value = text;
    if (text === '') this.#storage.remove(DRAFT);
    else this.#storage.set(DRAFT, text);
  }

  reread(): void {
    const stored = this.#storage.get(DRAFT);
    this.#text.value = typeof stored === 'string' ? stored : '';
  }
}

/** Characters as the server counts them: code points. */
export const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && Array.from(text).length > limit;

/** A message that the server has not acknowledged yet, as it lies in the storage. */
export interface OutboxItem {
  readonly id: string;
  /** Its place in the queue; no clock has a say in it. */
  readonly place: number;
  /** Whose it is; absent until this browser has its first session. */
  readonly visitorId?: string;
  readonly text: string;
  readonly files: readonly AttachmentInfo[];
  readonly at: number;
  /** Refused: waits for its visitor. */
  readonly error?: ErrorWord;
  /** Not before; milliseconds since the epoch. */
  readonly retryAt?: number;
  /** Acknowledged under this number; on its way out. */
  readonly seq?: number;
}

/** No server asks for more; a later time comes from a clock that was set back. */
const MAX_WAIT_MS = 3_700_000;

/** Milliseconds until an item may be sent. */
export function waitOf({ retryAt = 0 }: OutboxItem, now: number): number {
  const wait = retryAt - now;
  return wait > MAX_WAIT_MS ? 0 : Math.max(0, wait);
}

/** Two tabs may have taken the same place: the id decides, alike in both. */
export const byPlace = (one: OutboxItem, other: OutboxItem): number =>
  one.place - other.place || (one.id < other.id ? -1 : 1);

/** Whoever else can write into this storage: what is no item of ours is left alone. */
export function isOutboxItem(value: unknown): value is OutboxItem {
  if (typeof value !== 'object' || value === null) return false;
  const item = value as Partial<Record<keyof OutboxItem, unknown>>;
  return (
    typeof item.id === 'string' &&
    typeof item.place === 'number' &&
    typeof item.text === 'string' &&
    typeof item.at === 'number' &&
    Array.isArray(item.files)
  );
}

const PREFIX = 'out:';

/**
 * The messages that are not acknowledged, each under a key of its own, so that tabs which write at
 * the same time never lose each other's. Every tab has them in memory too, and hears of changes by
 * storage events: memory survives a storage that fails.
 */
export class Outbox {
  readonly #storage: SafeStorage;
  readonly #items = signal<readonly OutboxItem[]>([]);
  /** Acknowledged items up to here are lines of the record, or older than it. */
  #top = 0;

  constructor(storage: SafeStorage) {
    this.#storage = storage;
    this.#readAll();
  }

  /** In the order in which they are sent; acknowledged ones too until their line is there. */
  get items(): ReadonlySignal<readonly OutboxItem[]> {
    return this.#items;
  }

  find(id: string): OutboxItem | undefined {
    return this.#items.peek().find((item) => item.id === id);
  }

  /** What this visitor has to send next. */
  head(visitorId: string): OutboxItem | undefined {
    return this.#items.value.find(
      (item) => item.visitorId === visitorId && item.error === undefined && item.seq === undefined,
    );
  }

  add(item: Omit<OutboxItem, 'place'>): void {
    const places = this.#items.peek().map(({ place }) => place);
    this.put({ ...item, place: Math.max(0, ...places) + 1 });
  }

  put(item: OutboxItem): void {
    this.#replace(item.id, item);
    this.#storage.set(PREFIX + item.id, item);
  }

  remove(id: string): void {
    this.#replace(id);
    this.#storage.remove(PREFIX + id);
  }

  /**
   * The server has it under this number. Here it stays until that line comes; the number is
   * written before the key is removed, so that other tabs can tell this from a discarded one.
   */
  acknowledge(id: string, seq: number): void {
    const item = this.find(id);
    if (item === undefined || item.seq !== undefined) return;
    const { error: _, retryAt: __, ...rest } = item;
    this.put({ ...rest, seq });
    this.#storage.remove(PREFIX + id);
  }

  /** The record has reached `top`. */
  settle(top: number): void {
    this.#top = top;
    const left = this.#items.peek().filter((item) => !this.#isSettled(item));
    if (left.length < this.#items.peek().length) this.#items.value = left;
  }

  /** Their lines will not come: the record that they are in is gone. */
  dropAcknowledged(): void {
    this.#items.value = this.#items.peek().filter(({ seq }) => seq === undefined);
  }

  /** What was written before the first session belongs to the visitor of this one. */
  claim(visitorId: string): void {
    for (const item of this.#items.peek()) {
      if (item.visitorId === undefined) this.put({ ...item, visitorId });
    }
  }

  /**
   * This browser's visitor is another one now. What a verified one has left is nobody else's. An
   * anonymous one is still the same person, whether he has said who he is or the server has
   * forgotten him; what he has sent already it knows again when his history has joined another.
   */
  handOver(from: { visitorId: string; verified: boolean }, to: string): void {
    for (const item of this.#items.peek()) {
      if (item.visitorId !== from.visitorId) continue;
      if (from.verified || item.seq !== undefined) this.remove(item.id);
      else this.put({ ...item, visitorId: to });
    }
  }

  /** Forgets everything, in this tab. */
  clear(): void {
    this.#items.value = [];
  }

  /**
   * Another tab has written or removed a name.
   * @returns whether it was an item
   */
  onStored(name: string, json: string | null): boolean {
    if (!name.startsWith(PREFIX)) return false;
    const id = name.slice(PREFIX.length);
    const value = parsed(json);
    if (isOutboxItem(value)) this.#replace(id, value);
    else if (this.find(id)?.seq === undefined) this.#replace(id);
    return true;
  }

  /** After a time without storage events (a frozen page): what is not stored any more was sent. */
  reread(): void {
    this.#items.value = this.#items.peek().filter(({ seq }) => seq !== undefined);
    this.#readAll();
  }

  #readAll(): void {
    for (const name of this.#storage.names()) {
      const item = name.startsWith(PREFIX) ? this.#storage.get(name) : undefined;
      if (!isOutboxItem(item)) continue;
      // A page that ended between the acknowledgement and the removal.
      if (item.seq === undefined) this.#replace(item.id, item);
      else this.#storage.remove(name);
    }
  }

  #isSettled({ seq = Infinity }: OutboxItem): boolean {
    return seq <= this.#top;
  }

  #replace(id: string, item?: OutboxItem): void {
    const others = this.#items.peek().filter((each) => each.id !== id);
    const isKept = item !== undefined && !this.#isSettled(item);
    this.#items.value = isKept ? [...others, item].sort(byPlace) : others;
  }
}

/** A random UUID (RFC 9562 §5.4), also on pages without TLS, where `crypto.randomUUID` is missing. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}
