import { type ReadonlySignal, signal } from '@preact/signals-core';
import type { SafeStorage } from './safe-storage.ts';

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
