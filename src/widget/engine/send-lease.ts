import type { SafeStorage } from './safe-storage.ts';

export const LEASE = 'sender';

/**
 * Which of the tabs sends. It only spares the server the same message from each of them (and the
 * visitor his rate): two that send by mistake send the same first message, which is one message.
 */
export class SendLease {
  readonly #storage: SafeStorage;
  readonly #tab: string;
  readonly #leaseMs: number;
  readonly #now: () => number;

  constructor(storage: SafeStorage, tab: string, leaseMs: number, now: () => number) {
    this.#storage = storage;
    this.#tab = tab;
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  /** Takes or keeps it. @returns 0, or the milliseconds for which another tab has it */
  take(): number {
    const now = this.#now();
    const { tab, until } = this.#read();
    const wait = tab === this.#tab ? 0 : until - now;
    // Longer than any lease: a clock that was set back.
    if (wait > 0 && wait <= this.#leaseMs) return wait;
    this.#storage.set(LEASE, [this.#tab, now + this.#leaseMs]);
    return 0;
  }

  release(): void {
    if (this.#read().tab === this.#tab) this.#storage.remove(LEASE);
  }

  #read(): { tab: unknown; until: number } {
    const value = this.#storage.get(LEASE);
    const [tab, until] = Array.isArray(value) ? (value as unknown[]) : [];
    return { tab, until: typeof until === 'number' ? until : 0 };
  }
}
