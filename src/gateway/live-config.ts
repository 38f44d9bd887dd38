import type { CompleteConfig } from '../config/complete.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type Current, Holder } from '../runtime/current.ts';

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

/**
 * What a reload takes up; everything else needs a restart, and is told so. Each path stands for all
 * below it. `docs/reload.md` has the same list for operators, and a test that compares the two.
 */
export const TAKEN_UP: readonly string[] = [
  'log.level',
  'http.publicUrl',
  'http.trustProxy',
  'admin.password',
  'admin.operators',
  'admin.metricsToken',
  'spool.retain',
  'delivery',
  'platform',
  'alerts',
  'shops',
];

/** What is no key of the file and goes with the shops. */
const WITH_THE_SHOPS = 'demo';

export function isTakenUp(path: string): boolean {
  return path === WITH_THE_SHOPS || TAKEN_UP.some((each) => isWithin(path, each));
}

/** `shops[acme].email` is within `shops`, and `delivery` within itself. */
export function isWithin(path: string, whole: string): boolean {
  return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
}

/** What runs after a reload: the new values of what is taken up, the old ones of all else. */
export function merged(running: CompleteConfig, next: CompleteConfig): CompleteConfig {
  // Both have the type, and so has each key of the result.
  return mergedAt('', running, next) as CompleteConfig;
}

function mergedAt(path: string, running: unknown, next: unknown): unknown {
  if (isTakenUp(path)) return next;
  if (!isMapping(running) || !isMapping(next)) return running;
  const keys = new Set([...Object.keys(running), ...Object.keys(next)]);
  const pairs = [...keys].map((key): [string, unknown] => {
    const below = path === '' ? key : `${path}.${key}`;
    return [key, mergedAt(below, running[key], next[key])];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Not a list, and not an object of a class, such as a secret. */
function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
