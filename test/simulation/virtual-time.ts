/** The order of events at one instant: timers before socket input. */
const TIMER = 0;
const INPUT = 1;

interface Event {
  readonly at: number;
  readonly rank: number;
  readonly order: number;
  readonly run: () => void;
  /** Undefined: an event outside the process, unaffected by its pauses and crashes. */
  readonly process: SimulatedProcess | undefined;
  cancelled: boolean;
}

const realSetImmediate = globalThis.setImmediate;

/** A process under test. */
export interface SimulatedProcess {
  isAlive: boolean;
  pausedUntil: number;
  /** The offset of its clock. */
  readonly skewMs: number;
}

/**
 * Virtual time, which advances only when nothing is left to do at the present instant. Timers of
 * the processes under test (the global `setTimeout` and `setInterval`, replaced during a run) and
 * outside events share one queue. Each event is one process's, so what its code sets up is, too. A
 * process can be paused, as by SIGSTOP: when the pause ends all overdue timers fire first, then the
 * input received meanwhile is read. It can also be killed: what its code still does has no effect.
 */
export class VirtualTime {
  readonly #queue: Event[] = [];
  #now: number;
  #order = 0;
  /** Whose event this is. */
  #current: SimulatedProcess | undefined;
  #restore: (() => void) | undefined;

  /** @param start milliseconds since the epoch */
  constructor(start: number) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  isPaused({ pausedUntil }: SimulatedProcess): boolean {
    return this.#now < pausedUntil;
  }

  /** Starts a process, to which the rest of this event belongs. */
  spawn(skewMs: number, pausedUntil = 0): SimulatedProcess {
    const process = { isAlive: true, pausedUntil, skewMs };
    this.#current = process;
    return process;
  }

  /** The rest of this event is this process's. */
  enter(process: SimulatedProcess): void {
    this.#current = process;
  }

  /** Schedules an event outside the processes. */
  at(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: undefined });
  }

  /** Schedules input for the process whose event this is; dropped if it has died by then. */
  reach(time: number, run: () => void): void {
    this.#add({ at: Math.max(time, this.#now), rank: INPUT, run, process: this.#owner });
  }

  pause(process: SimulatedProcess, ms: number): void {
    process.pausedUntil = Math.max(process.pausedUntil, this.#now + ms);
  }

  get #owner(): SimulatedProcess {
    if (this.#current === undefined) throw new Error('no process does this');
    return this.#current;
  }

  /** Replaces the global timers and clocks until `end`. */
  begin(): void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const dateNow = Date.now;
    const performanceNow = performance.now.bind(performance);
    this.#restore = () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = dateNow;
      performance.now = performanceNow;
    };
    const started = this.#now;
    Date.now = () => this.#now + (this.#current?.skewMs ?? 0);
    performance.now = () => this.#now - started;
    Object.assign(globalThis, {
      // jest's own timers, where it runs the tests in its process, belong to no simulated one.
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#current === undefined
          ? setTimeout(run, ms, ...args)
          : this.#timer(() => run(...args), ms),
      setInterval: (run: () => void, ms: number) => this.#interval(run, ms),
      clearTimeout: (timer?: Timer | NodeJS.Timeout) =>
        timer instanceof Timer ? timer.cancel() : clearTimeout(timer),
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
      const { process } = event;
      if (process?.isAlive === false) continue;
      if (process !== undefined && event.at < process.pausedUntil) {
        this.#push({ ...event, at: process.pausedUntil, order: event.order });
        continue;
      }
      this.#now = event.at;
      this.#current = process;
      event.run();
      await settled();
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
