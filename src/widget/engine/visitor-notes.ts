import type { SessionEvent } from '../../channels/chat/events.ts';
import type { SafeStorage } from './safe-storage.ts';

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
