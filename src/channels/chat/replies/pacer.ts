export type Urgency = 'urgent' | 'usual';

/** After this many urgent callers in a row, a normal caller has its turn. */
const URGENT_IN_A_ROW = 3;

/**
 * Admits callers one after the other at a fixed interval. Urgent callers come first, but not
 * exclusively.
 */
export class Pacer {
  readonly #spacingMs: number;
  readonly #waiting: Record<Urgency, (() => void)[]> = { urgent: [], usual: [] };
  #nextAt = 0;
  #urgentInARow = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(perSecond: number) {
    this.#spacingMs = 1000 / perSecond;
  }

  /** @throws the signal's reason once it is aborted */
  async turn(signal: AbortSignal, urgency: Urgency = 'usual'): Promise<void> {
    signal.throwIfAborted();
    const waiting = this.#waiting[urgency];
    let passed: () => void = () => undefined;
    let leave: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => (passed = resolve));
    const aborted = new Promise<void>((resolve) => (leave = resolve));
    waiting.push(passed);
    signal.addEventListener('abort', leave);
    this.#schedule();
    await Promise.race([mine, aborted]);
    signal.removeEventListener('abort', leave);
    const place = waiting.indexOf(passed);
    if (place !== -1) waiting.splice(place, 1);
    if (!this.#isAnyoneWaiting) this.#rest();
    signal.throwIfAborted();
  }

  #schedule(): void {
    if (this.#timer !== undefined || !this.#isAnyoneWaiting) return;
    this.#timer = setTimeout(() => this.#letOneThrough(), this.#nextAt - performance.now());
  }

  /** A timer would keep the process alive for nobody. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #letOneThrough(): void {
    this.#timer = undefined;
    const now = performance.now();
    // A timer may fire slightly early.
    if (now >= this.#nextAt) {
      const passed = this.#next();
      if (passed !== undefined) this.#nextAt = now + this.#spacingMs;
      passed?.();
    }
    this.#schedule();
  }

  get #isAnyoneWaiting(): boolean {
    return this.#waiting.urgent.length + this.#waiting.usual.length > 0;
  }

  #next(): (() => void) | undefined {
    const { urgent, usual } = this.#waiting;
    const isTheirTurn = usual.length === 0 || this.#urgentInARow < URGENT_IN_A_ROW;
    if (urgent.length > 0 && isTheirTurn) {
      this.#urgentInARow += 1;
      return urgent.shift();
    }
    this.#urgentInARow = 0;
    return usual.shift();
  }
}
