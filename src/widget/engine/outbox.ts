import { type ReadonlySignal, signal } from '@preact/signals-core';
import type { AttachmentInfo, ErrorWord } from '../../channels/chat/events.ts';
import { parsed, type SafeStorage } from '../storage.ts';

export const DRAFT = 'draft';

/** The text that is typed and not sent, shared by all tabs. */
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

/** Counts characters as the server does: code points. */
export const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && Array.from(text).length > limit;

/** A message that the server has not acknowledged, as it is stored. */
export interface OutboxItem {
  readonly id: string;
  /** Its place in the queue, independent of clocks. */
  readonly place: number;
  /** Who wrote it; absent until this browser has its first session. */
  readonly visitorId?: string;
  readonly text: string;
  readonly files: readonly AttachmentInfo[];
  readonly at: number;
  /** Why it was refused; it is sent again only when the visitor asks for it. */
  readonly error?: ErrorWord;
  /** It is not sent before this time; milliseconds since the epoch. */
  readonly retryAt?: number;
  /** The number under which it was acknowledged; the item is about to be removed. */
  readonly seq?: number;
}

/** The longest wait that a server asks for. A longer one means that the clock was set back. */
const MAX_WAIT_MS = 3_700_000;

/** Milliseconds until an item may be sent. */
export function waitOf({ retryAt = 0 }: OutboxItem, now: number): number {
  const wait = retryAt - now;
  return wait > MAX_WAIT_MS ? 0 : Math.max(0, wait);
}

/** Two tabs may have used the same place; the id decides then, so that all tabs agree. */
const byPlace = (one: OutboxItem, other: OutboxItem): number =>
  one.place - other.place || (one.id < other.id ? -1 : 1);

/** Other code of the page can write to the storage too: values of another form are ignored. */
function isOutboxItem(value: unknown): value is OutboxItem {
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
 * The messages that are not acknowledged. Each has its own key in the storage, so that tabs which
 * write at the same time do not overwrite each other's messages. Each tab also has them in memory,
 * updated by storage events, so that a failing storage loses nothing.
 */
export class Outbox {
  readonly #storage: SafeStorage;
  readonly #items = signal<readonly OutboxItem[]>([]);
  /** The highest number of the record; acknowledged items up to it are no longer needed. */
  #top = 0;

  constructor(storage: SafeStorage) {
    this.#storage = storage;
    this.#readAll();
  }

  /** In sending order; acknowledged items stay until their line has arrived. */
  get items(): ReadonlySignal<readonly OutboxItem[]> {
    return this.#items;
  }

  find(id: string): OutboxItem | undefined {
    return this.#items.peek().find((item) => item.id === id);
  }

  /** The message that this visitor sends next. */
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
   * The server has stored the message as `seq`. The item stays in memory until that line arrives.
   * The number is written before the key is removed, so that other tabs can tell an acknowledged
   * message from a discarded one.
   */
  acknowledge(id: string, seq: number): void {
    const item = this.find(id);
    if (item === undefined || item.seq !== undefined) return;
    const { error: _, retryAt: __, ...rest } = item;
    this.put({ ...rest, seq });
    this.#storage.remove(PREFIX + id);
  }

  /** The record has reached `top`: removes the acknowledged items that are in it. */
  settle(top: number): void {
    this.#top = top;
    const left = this.#items.peek().filter((item) => !this.#isSettled(item));
    if (left.length < this.#items.peek().length) this.#items.value = left;
  }

  /** Removes acknowledged items: the server has lost the record that their lines were in. */
  dropAcknowledged(): void {
    this.#items.value = this.#items.peek().filter(({ seq }) => seq === undefined);
  }

  /** Assigns messages from before the first session to the session's visitor. */
  claim(visitorId: string): void {
    for (const item of this.#items.peek()) {
      if (item.visitorId === undefined) this.put({ ...item, visitorId });
    }
  }

  /**
   * This browser's visitor has changed. A verified visitor's messages are removed: nobody else may
   * send them. An anonymous visitor is still the same person, who has identified themselves or whom
   * the server has forgotten: their unsent messages pass to the new visitor. Acknowledged ones come
   * back with the merged history.
   */
  handOver(from: { visitorId: string; verified: boolean }, to: string): void {
    for (const item of this.#items.peek()) {
      if (item.visitorId !== from.visitorId) continue;
      if (from.verified || item.seq !== undefined) this.remove(item.id);
      else this.put({ ...item, visitorId: to });
    }
  }

  /** Removes all items from this tab's memory. */
  clear(): void {
    this.#items.value = [];
  }

  /**
   * Another tab has written or removed a name.
   * @returns whether the name is an item's
   */
  onStored(name: string, json: string | null): boolean {
    if (!name.startsWith(PREFIX)) return false;
    const id = name.slice(PREFIX.length);
    const value = parsed(json);
    if (isOutboxItem(value)) this.#replace(id, value);
    else if (this.find(id)?.seq === undefined) this.#replace(id);
    return true;
  }

  /**
   * After a time without storage events (a frozen page): items that are no longer stored were sent.
   */
  reread(): void {
    this.#items.value = this.#items.peek().filter(({ seq }) => seq !== undefined);
    this.#readAll();
  }

  #readAll(): void {
    for (const name of this.#storage.names()) {
      const item = name.startsWith(PREFIX) ? this.#storage.get(name) : undefined;
      if (!isOutboxItem(item)) continue;
      // With a number, the page was closed between the acknowledgement and the removal.
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

/**
 * A random UUID (RFC 9562 §5.4), also on pages without TLS, where `crypto.randomUUID` is missing.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
