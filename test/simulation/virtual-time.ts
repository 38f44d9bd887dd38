/** What may fire at an instant, in this order: timers before what the sockets have brought. */
const TIMER = 0;
const INPUT = 1;

interface Event {
  readonly at: number;
  readonly rank: number;
  readonly order: number;
  readonly run: () => void;
  /** Undefined: the world's own, which no pause and no crash of the process touches. */
  readonly process: number | undefined;
  cancelled: boolean;
}

const realSetImmediate = globalThis.setImmediate;

/**
 * Time that passes only when nothing is left to do in the present. Timers of the process under test
 * (the global `setTimeout` and `setInterval`, replaced while a run lasts) and events of the world
 * around it share one queue. The process can be paused, as by SIGSTOP: at its end the timers that
 * were due fire first, all at once, and then what came in meanwhile is read; and it can be killed.
 */
export class VirtualTime {
  readonly #queue: Event[] = [];
  #now: number;
  #order = 0;
  #process = 0;
  #pausedUntil = 0;
  /** The process was killed in this very event: what its code still does in it has no effect. */
  #isDying = false;
  #restore: (() => void) | undefined;

  /** @param start milliseconds since the epoch */
  constructor(start: number) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  get isPaused(): boolean {
    return this.#now < this.#pausedUntil;
  }

  /** The process that runs now; another number after each `kill`. */
  get process(): number {
    return this.#process;
  }

  /** Something happens in the world. */
  at(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: undefined });
  }

  /** Something reaches the process that runs now, if that still lives. */
  reach(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: this.#owner });
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now + ms);
  }

  /** Whose a timer is that is set now; nobody's after a death. */
  get #owner(): number {
    return this.#isDying ? -1 : this.#process;
  }

  /** Nothing of the process that runs now happens any more. */
  kill(): void {
    this.#process += 1;
    this.#isDying = true;
    this.#pausedUntil = 0;
  }

  /** Replaces the global timers and clocks until `end`. @param clockSkew of the process, in ms */
  begin(clockSkew: () => number): void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const dateNow = Date.now;
    const performanceNow = performance.now.bind(performance);
    this.#restore = () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = dateNow;
      performance.now = performanceNow;
    };
    const started = this.#now;
    Date.now = () => this.#now + clockSkew();
    performance.now = () => this.#now - started;
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#timer(() => run(...args), ms),
      setInterval: (run: () => void, ms: number) => this.#interval(run, ms),
      clearTimeout: (timer?: Timer) => timer?.cancel(),
      clearInterval: (timer?: Timer) => timer?.cancel(),
    });
  }

  end(): void {
    this.#restore?.();
    this.#restore = undefined;
  }

  /** Lets everything happen up to `until`. */
  async run(until: number): Promise<void> {
    for (;;) {
      const event = this.#queue[0];
      if (event === undefined || event.at > until) break;
      this.#pop();
      if (event.cancelled) continue;
      if (event.process !== undefined) {
        if (event.process !== this.#process) continue;
        if (event.at < this.#pausedUntil) {
          this.#push({ ...event, at: this.#pausedUntil, order: event.order });
          continue;
        }
      }
      this.#now = event.at;
      event.run();
      await settled();
      this.#isDying = false;
    }
    this.#now = until;
  }

  #timer(run: () => void, ms: number): Timer {
    return new Timer(
      this.#add({ at: this.#now + Math.max(1, ms), rank: TIMER, run, process: this.#owner }),
    );
  }

  #interval(run: () => void, ms: number): Timer {
    const timer = this.#timer(() => {
      timer.becomes(this.#timer(tick, ms));
      run();
    }, ms);
    const tick = () => {
      timer.becomes(this.#timer(tick, ms));
      run();
    };
    return timer;
  }

  #add(event: Omit<Event, 'order' | 'cancelled'>): Event {
    this.#order += 1;
    const added = { ...event, order: this.#order, cancelled: false };
    this.#push(added);
    return added;
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let index = queue.length;
    queue.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = queue[parent];
      if (above === undefined || isBefore(above, event)) break;
      queue[index] = above;
      index = parent;
    }
    queue[index] = event;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop();
    if (last === undefined || queue.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const first = queue[left];
      if (first === undefined) break;
      const second = queue[left + 1];
      const [child, next] =
        second !== undefined && isBefore(second, first) ? [left + 1, second] : [left, first];
      if (isBefore(last, next)) break;
      queue[index] = next;
      index = child;
    }
    queue[index] = last;
  }
}

/** What `setTimeout` returns here. */
class Timer {
  #event: Event;

  constructor(event: Event) {
    this.#event = event;
  }

  cancel(): void {
    this.#event.cancelled = true;
  }

  becomes(other: Timer): void {
    this.#event = other.#event;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at !== b.at ? a.at < b.at : a.rank !== b.rank ? a.rank < b.rank : a.order < b.order;

/** Every promise that can go on has gone on. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    realSetImmediate(resolve);
  });
