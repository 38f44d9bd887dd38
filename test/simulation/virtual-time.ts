/** The order of events at one instant: timers before socket input. */
const TIMER = 0;
const INPUT = 1;

interface Event {
  readonly at: number;
  readonly rank: number;
  readonly order: number;
  readonly run: () => void;
  /** Undefined: an event outside the process, unaffected by its pauses and crashes. */
  readonly process: number | undefined;
  cancelled: boolean;
}

const realSetImmediate = globalThis.setImmediate;

/**
 * Virtual time, which advances only when nothing is left to do at the present instant. Timers of
 * the process under test (the global `setTimeout` and `setInterval`, replaced during a run) and
 * outside events share one queue. The process can be paused, as by SIGSTOP: when the pause ends all
 * overdue timers fire first, then the input received meanwhile is read. It can also be killed.
 */
export class VirtualTime {
  readonly #queue: Event[] = [];
  #now: number;
  #order = 0;
  #process = 0;
  #pausedUntil = 0;
  /** The process was killed in the current event: what its code still does in it has no effect. */
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

  /** The number of the current process; it changes with each `kill`. */
  get process(): number {
    return this.#process;
  }

  /** Schedules an event outside the process. */
  at(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: undefined });
  }

  /** Schedules input for the current process; dropped if that process has died by then. */
  reach(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: this.#owner });
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now + ms);
  }

  /** The owner of a timer that is set now; no process after a death. */
  get #owner(): number {
    return this.#isDying ? -1 : this.#process;
  }

  /** Kills the current process: its pending events do not fire. */
  kill(): void {
    this.#process += 1;
    this.#isDying = true;
    this.#pausedUntil = 0;
  }

  /** Replaces the global timers and clocks until `end`. @param clockSkew offset in ms */
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

  /** Runs all events up to `until`. */
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

/** The object that the replaced `setTimeout` returns. */
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

/** Resolves after all pending promise callbacks have run. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    realSetImmediate(resolve);
  });
