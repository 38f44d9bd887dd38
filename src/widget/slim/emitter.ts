type Listener = ((...args: unknown[]) => void) & { of?: Listener };

/** Events, in the place of `@socket.io/component-emitter` within the bundle. */
export class Emitter {
  readonly #listeners = new Map<string, Listener[]>();

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...this.listeners(event), listener]);
    return this;
  }

  once(event: string, listener: Listener): this {
    const once: Listener = (...args) => {
      this.off(event, once);
      listener.apply(this, args);
    };
    once.of = listener;
    return this.on(event, once);
  }

  /** All of them, all of an event, or one. */
  off(event?: string, listener?: Listener): this {
    if (event === undefined) this.#listeners.clear();
    else {
      const stays = (each: Listener): boolean => each !== listener && each.of !== listener;
      this.#listeners.set(event, listener ? this.listeners(event).filter(stays) : []);
    }
    return this;
  }

  removeListener(event: string, listener: Listener): this {
    return this.off(event, listener);
  }

  removeAllListeners(event?: string): this {
    return this.off(event);
  }

  emit(event: string, ...args: unknown[]): this {
    return this.emitReserved(event, ...args);
  }

  emitReserved(event: string, ...args: unknown[]): this {
    for (const listener of this.listeners(event)) listener.apply(this, args);
    return this;
  }

  listeners(event: string): readonly Listener[] {
    return this.#listeners.get(event) ?? [];
  }

  hasListeners(event: string): boolean {
    return this.listeners(event).length > 0;
  }
}
