import type { Logger } from '../../../../observability/logger.ts';
import type { EmailJob, EmailResult, WorkerFailure } from '../job.ts';
import type { ShopMailSettings } from '../../shop.ts';
import { MailWorker, type MailWorkerOptions } from './mail-worker.ts';

/** A message that ended the worker in which it was alone, or always failed there. */
export class UnreadableMessage extends Error {
  override name = 'UnreadableMessage';
}

/**
 * A failure that the message did not cause: of the disk, or of workers that do not start. Try again
 * later.
 */
export class NormalizingUnavailable extends Error {
  override name = 'NormalizingUnavailable';
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

export interface MailWorkerPoolOptions extends MailWorkerOptions {
  readonly workers: number;
  /** Messages in flight per worker. */
  readonly inFlight: number;
  isKnown(job: EmailJob, ids: readonly string[]): Promise<boolean>;
}

interface Task {
  readonly id: number;
  readonly job: EmailJob;
  readonly signal: AbortSignal;
  /** The number of a worker's places that it takes. */
  readonly places: number;
  readonly resolve: (result: EmailResult) => void;
  readonly reject: (error: Error) => void;
  /** It was in flight in a worker that died, so it runs alone, and once. */
  alone: boolean;
}

interface Slot {
  worker: MailWorker | undefined;
  readonly tasks: Set<number>;
  /** It runs one suspect alone. */
  quarantined: boolean;
  /** Consecutive deaths of workers before their first message. */
  failedStarts: number;
  restart: NodeJS.Timeout | undefined;
}

/** The size of a place in a worker: a larger message takes several, or all. */
const PLACE_BYTES = 256 * 1024;
const MAX_FAILED_STARTS = 5;
const RESTART_MS = 200;

/**
 * Workers that read mail, several messages in each. When a worker dies or misses a deadline, each
 * message that was in it is retried alone; one that ends its worker again counts as unreadable.
 * This happens in one slot at a time, while the others continue with other messages.
 */
export class MailWorkerPool {
  #options: MailWorkerPoolOptions;
  readonly #logger: Logger;
  readonly #slots: readonly Slot[];
  readonly #tasks = new Map<number, Task>();
  #waiting: Task[] = [];
  #suspects: Task[] = [];
  readonly #dying = new Set<Promise<void>>();
  #nextId = 1;
  #stopped = false;

  constructor(options: MailWorkerPoolOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#slots = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      tasks: new Set<number>(),
      quarantined: false,
      failedStarts: 0,
      restart: undefined,
    }));
  }

  /**
   * @param bytes the size of the raw message
   *
   * A message whose signal is aborted is not started; once a worker has it, it is read completely.
   * @throws {UnreadableMessage} it cannot be read, now or later
   * @throws {NormalizingUnavailable} try again later
   */
  run(job: EmailJob, bytes: number, signal: AbortSignal): Promise<EmailResult> {
    if (this.#stopped) return Promise.reject(new NormalizingUnavailable('stopped'));
    return new Promise<EmailResult>((resolve, reject) => {
      const id = this.#nextId;
      this.#nextId += 1;
      const places = Math.max(1, Math.ceil(bytes / PLACE_BYTES));
      this.#waiting.push({ id, job, signal, places, resolve, reject, alone: false });
      this.#assign();
    });
  }

  /**
   * Sets how shops want later messages to be read. Messages of a removed shop can still be read,
   * because some may be in flight.
   */
  setShops(shops: readonly ShopMailSettings[]): void {
    const known = new Map(this.#options.settings.shops.map((shop) => [shop.shopId, shop]));
    for (const shop of shops) known.set(shop.shopId, shop);
    const settings = { ...this.#options.settings, shops: [...known.values()] };
    this.#options = { ...this.#options, settings };
    for (const { worker } of this.#slots) worker?.setShops(shops);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const unfinished = [...this.#tasks.values(), ...this.#waiting, ...this.#suspects];
    this.#tasks.clear();
    this.#waiting = [];
    this.#suspects = [];
    for (const { reject } of unfinished) reject(new NormalizingUnavailable('stopped'));
    await Promise.all(
      this.#slots.map(async (slot) => {
        clearTimeout(slot.restart);
        await slot.worker?.stop();
      }),
    );
    await Promise.all(this.#dying);
  }

  #assign(): void {
    if (this.#stopped) return;
    this.#waiting = this.#notAborted(this.#waiting);
    this.#suspects = this.#notAborted(this.#suspects);
    this.#assignSuspect();
    while (this.#waiting.length > 0) {
      const slot = this.#leastLoaded();
      if (slot === undefined) return;
      if (!this.#isReady(slot)) return;
      const task = this.#waiting.shift();
      if (task !== undefined) this.#give(slot, task);
    }
  }

  /** A suspect waits until a slot is empty; that slot accepts nothing else meanwhile. */
  #assignSuspect(): void {
    const inQuarantine = this.#slots.find(({ quarantined }) => quarantined);
    const suspect = this.#suspects[0];
    if (suspect === undefined) {
      if (inQuarantine?.tasks.size === 0) inQuarantine.quarantined = false;
      return;
    }
    const slot = inQuarantine ?? this.#emptiest();
    if (slot === undefined) return;
    slot.quarantined = true;
    if (slot.tasks.size > 0 || !this.#isReady(slot)) return;
    this.#suspects.shift();
    this.#give(slot, suspect);
  }

  #notAborted(tasks: readonly Task[]): Task[] {
    return tasks.filter(({ signal, reject }) => {
      if (signal.aborted) reject(new NormalizingUnavailable('aborted'));
      return !signal.aborted;
    });
  }

  #emptiest(): Slot | undefined {
    return this.#slots.toSorted((one, other) => one.tasks.size - other.tasks.size)[0];
  }

  /** The open slot with the lowest load; a slot without a thread is started when all are busy. */
  #leastLoaded(): Slot | undefined {
    const open = this.#slots.filter(
      (slot) => !slot.quarantined && this.#taken(slot) < this.#options.inFlight,
    );
    const running = open.filter(({ worker }) => worker !== undefined);
    const idle = running.find(({ tasks, worker }) => tasks.size === 0 && worker?.ready === true);
    if (idle !== undefined) return idle;
    const asleep = open.find(
      ({ worker, restart }) => worker === undefined && restart === undefined,
    );
    if (asleep !== undefined) this.#start(asleep);
    const ready = running.filter(({ worker }) => worker?.ready);
    return (
      ready.toSorted((one, other) => one.tasks.size - other.tasks.size)[0] ?? asleep ?? running[0]
    );
  }

  #taken({ tasks }: Slot): number {
    let places = 0;
    for (const id of tasks) places += this.#tasks.get(id)?.places ?? 0;
    return places;
  }

  #isReady(slot: Slot): boolean {
    if (slot.worker === undefined && slot.restart === undefined) this.#start(slot);
    return slot.worker?.ready ?? false;
  }

  #give(slot: Slot, task: Task): void {
    this.#tasks.set(task.id, task);
    slot.tasks.add(task.id);
    slot.worker?.read(task.id, task.job);
  }

  #start(slot: Slot): void {
    slot.worker = new MailWorker(this.#options, {
      onReady: () => {
        slot.failedStarts = 0;
        this.#assign();
      },
      onDone: (id, result) => this.#take(slot, id)?.resolve(result),
      onFailed: (id, failure) => this.#onFailed(slot, id, failure),
      onQuestion: (id, ids) => void this.#onQuestion(slot, id, ids),
      onDeath: (lost, ready) => this.#onDeath(slot, lost, ready),
    });
  }

  /** Removes a task from a slot and admits the next one. */
  #take(slot: Slot, id: number): Task | undefined {
    const task = this.#tasks.get(id);
    this.#tasks.delete(id);
    slot.tasks.delete(id);
    queueMicrotask(() => this.#assign());
    return task;
  }

  #onFailed(slot: Slot, id: number, failure: WorkerFailure): void {
    const task = this.#take(slot, id);
    if (task === undefined) return;
    const { cause, name, code } = failure;
    if (cause === 'memory' && !task.alone) {
      this.#suspect(task);
      return;
    }
    if (cause === 'system') {
      task.reject(new NormalizingUnavailable(name, code));
      return;
    }
    this.#logger.error('email.unreadable', { cause, error: name });
    task.reject(new UnreadableMessage(name));
  }

  async #onQuestion(slot: Slot, id: number, ids: readonly string[]): Promise<void> {
    const { worker } = slot;
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    try {
      worker?.answer(id, await this.#options.isKnown(task.job, ids));
    } catch {
      // Without an answer, nothing is trimmed and all of the text is delivered.
      worker?.answer(id, false);
    }
  }

  #onDeath(slot: Slot, lost: readonly number[], ready: boolean): void {
    if (slot.worker !== undefined) this.#awaitEnd(slot.worker);
    slot.worker = undefined;
    this.#logger.warn('email.worker_died', { inFlight: lost.length, started: ready });
    for (const id of lost) {
      const task = this.#take(slot, id);
      if (task?.alone === false) this.#suspect(task);
      else task?.reject(new UnreadableMessage('it ended its worker'));
    }
    if (!ready) this.#onFailedStart(slot);
    this.#assign();
  }

  #awaitEnd(worker: MailWorker): void {
    const ended = worker.stop().finally(() => this.#dying.delete(ended));
    this.#dying.add(ended);
  }

  #suspect(task: Task): void {
    task.alone = true;
    this.#suspects.push(task);
    this.#assign();
  }

  /** No message is to blame if a worker never started. */
  #onFailedStart(slot: Slot): void {
    slot.failedStarts += 1;
    slot.restart = setTimeout(() => {
      slot.restart = undefined;
      this.#assign();
    }, RESTART_MS * slot.failedStarts);
    if (slot.failedStarts < MAX_FAILED_STARTS) return;
    this.#logger.error('email.workers_do_not_start');
    const waiting = [...this.#waiting, ...this.#suspects];
    this.#waiting = [];
    this.#suspects = [];
    slot.quarantined = false;
    for (const { reject } of waiting) reject(new NormalizingUnavailable('no worker starts'));
  }
}
