import type { CompleteConfig } from '../config/complete.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type Current, Holder } from '../runtime/current.ts';
import { isWithin } from './taken-up.ts';

/** How a part changes over to a new configuration. */
export interface TakeUp {
  /** Puts in force what was prepared: at once, in this turn of the event loop. Must not fail. */
  commit(): void;
  /** Clears away what was replaced, when all parts have changed over. */
  after?(): Promise<unknown>;
  /** Another part could not be prepared: clears away what this one has made. */
  undo?(): Promise<unknown>;
}

export interface LivePart {
  readonly name: string;
  /** The paths that it is made of: it is asked only when something below one of them changes. */
  readonly reads: readonly string[];
  /** Makes what the new configuration asks for, and changes nothing yet. May fail. */
  prepare(next: CompleteConfig, running: CompleteConfig): TakeUp | Promise<TakeUp>;
}

/**
 * The configuration that runs, and the parts that can change over to another one. All of them
 * prepare before the first one changes over, and all change over in one turn of the event loop:
 * whatever arrives meets either the old shops or the new ones, and a part that cannot be prepared
 * leaves everything as it was.
 */
export class LiveConfig implements Current<CompleteConfig> {
  readonly #logger: Logger;
  readonly #parts: LivePart[] = [];
  #value: CompleteConfig;

  constructor(config: CompleteConfig, logger: Logger) {
    this.#value = config;
    this.#logger = logger;
  }

  get value(): CompleteConfig {
    return this.#value;
  }

  /** Parts are prepared and changed over in the order in which they were added. */
  add(part: LivePart): void {
    this.#parts.push(part);
  }

  /** What a part makes of the configuration, made anew when something that it reads changes. */
  derive<T>(
    name: string,
    reads: readonly string[],
    make: (config: CompleteConfig) => T,
  ): Current<T> {
    const holder = new Holder(make(this.#value));
    this.add({
      name,
      reads,
      prepare: (next) => {
        const made = make(next);
        return { commit: () => void (holder.value = made) };
      },
    });
    return holder;
  }

  /**
   * Changes over. Resolves when what was replaced has been cleared away.
   * @throws whatever kept a part from being prepared; nothing has changed then
   */
  async changeOver(next: CompleteConfig, changed: readonly string[]): Promise<void> {
    const running = this.#value;
    const prepared: { readonly name: string; readonly takeUp: TakeUp }[] = [];
    try {
      for (const part of this.#parts) {
        if (!changed.some((path) => part.reads.some((read) => isWithin(path, read)))) continue;
        prepared.push({ name: part.name, takeUp: await part.prepare(next, running) });
      }
    } catch (error) {
      for (const { name, takeUp } of prepared.toReversed()) {
        await this.#cleared(name, () => takeUp.undo?.());
      }
      throw error;
    }
    for (const { takeUp } of prepared) takeUp.commit();
    this.#value = next;
    await Promise.all(
      prepared.map(({ name, takeUp }) => this.#cleared(name, () => takeUp.after?.())),
    );
  }

  async #cleared(part: string, work: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logger.error('config.clearing_failed', { part, ...errorFields(error) });
    }
  }
}
