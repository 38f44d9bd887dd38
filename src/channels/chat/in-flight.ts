/** Counts operations in progress, so that a stop can wait for them and refuse new ones. */
export class InFlight {
  #count = 0;
  #closed = false;
  #onEmpty: (() => void) | undefined;

  get closed(): boolean {
    return this.#closed;
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onEmpty?.();
  }

  /** Refuses new operations; resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }
}
