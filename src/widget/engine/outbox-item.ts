import type { AttachmentInfo, ErrorWord } from '../../channels/chat/events.ts';

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
