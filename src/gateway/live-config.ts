import type { CompleteConfig } from '../config/complete.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type Current, Holder } from '../runtime/current.ts';
import { isMapping } from './config-leaves.ts';

/** A part's prepared change to a new configuration. */
export interface PreparedChange {
  /**
   * Makes the prepared change effective synchronously, in this turn of the event loop. Must not
   * fail.
   */
  commit(): void;
  /** Cleans up what was replaced, after all parts have changed. */
  after?(): Promise<unknown>;
  /** Discards what was prepared, because another part could not be prepared. */
  undo?(): Promise<unknown>;
}

export interface LivePart {
  readonly name: string;
  /**
   * The paths that it depends on; it is prepared only if a value at or below one of them changes.
   */
  readonly reads: readonly string[];
  /** Prepares the change without applying it. May fail. */
  prepare(next: CompleteConfig, running: CompleteConfig): PreparedChange | Promise<PreparedChange>;
}

/**
 * The running configuration and the parts that can change at runtime. All parts prepare before the
 * first one changes, and all change in one turn of the event loop: an arriving message sees either
 * the old shops or the new ones, and if a part cannot be prepared, nothing changes.
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

  /** Parts are prepared and changed in the order in which they were added. */
  add(part: LivePart): void {
    this.#parts.push(part);
  }

  /** A value derived from the configuration, recomputed when a path that it reads changes. */
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
   * Applies a new configuration. Resolves when what was replaced has been cleaned up.
   * @throws the error of the part that could not be prepared; nothing has changed then
   */
  async apply(next: CompleteConfig, changed: readonly string[]): Promise<void> {
    const { commit, after } = await this.prepare(next, changed);
    commit();
    await after();
  }

  /**
   * Prepares a new configuration in all parts that it concerns.
   * @throws the error of the part that could not be prepared; nothing is prepared then
   */
  async prepare(
    next: CompleteConfig,
    changed: readonly string[],
  ): Promise<Required<PreparedChange>> {
    const prepared: { readonly name: string; readonly change: PreparedChange }[] = [];
    const undo = async () => {
      for (const { name, change } of prepared.toReversed()) {
        await this.#cleared(name, () => change.undo?.());
      }
    };
    try {
      for (const part of this.#parts) {
        if (!changed.some((path) => part.reads.some((read) => isWithin(path, read)))) continue;
        prepared.push({ name: part.name, change: await part.prepare(next, this.#value) });
      }
    } catch (error) {
      await undo();
      throw error;
    }
    return {
      commit: () => {
        for (const { change } of prepared) change.commit();
        this.#value = next;
      },
      after: () =>
        Promise.all(
          prepared.map(({ name, change }) => this.#cleared(name, () => change.after?.())),
        ),
      undo,
    };
  }

  async #cleared(part: string, work: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logger.error('config.clearing_failed', { part, ...errorFields(error) });
    }
  }
}

/**
 * The paths that a reload can change, each with everything below it. All other changes need a
 * restart, and the reload says so. `docs/reload.md` has the same list for operators; a test
 * compares the two.
 */
export const RELOADABLE_PATHS: readonly string[] = [
  'log.level',
  'http.publicUrl',
  'http.trustProxy',
  'admin.password',
  'admin.operators',
  'admin.metricsToken',
  'admin.snippets',
  'spool.retain',
  'delivery.paused',
  'delivery.concurrency',
  'delivery.requestTimeout',
  'delivery.mediaTimeout',
  'delivery.giveUpAfter',
  'platform',
  'alerts',
  'shops',
];

/** Not a key of the file; it changes together with the shops. */
const WITH_THE_SHOPS = 'demo';

export function isReloadable(path: string): boolean {
  return path === WITH_THE_SHOPS || RELOADABLE_PATHS.some((each) => isWithin(path, each));
}

/** `shops[acme].email` is within `shops`, and `delivery` within itself. */
export function isWithin(path: string, whole: string): boolean {
  return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
}

/** The configuration after a reload: new values at reloadable paths, running values elsewhere. */
export function mergeReloadable(running: CompleteConfig, next: CompleteConfig): CompleteConfig {
  // Both arguments have this type, and so does each value of the result.
  return mergedAt('', running, next) as CompleteConfig;
}

function mergedAt(path: string, running: unknown, next: unknown): unknown {
  if (isReloadable(path)) return next;
  if (!isMapping(running) || !isMapping(next)) return running;
  const keys = new Set([...Object.keys(running), ...Object.keys(next)]);
  const pairs = [...keys].map((key): [string, unknown] => {
    const below = path === '' ? key : `${path}.${key}`;
    return [key, mergedAt(below, running[key], next[key])];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}
