import type { Logger } from '../../../../observability/logger.ts';
import { CallFailed, RpcThread } from '../../../../runtime/worker-rpc.ts';
import type { EmailJob, EmailResult, MailThread, MailThreadOwner, WorkerSettings } from '../job.ts';
import type { ShopMailSettings } from '../../shop.ts';

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

export interface MailWorkerPoolOptions extends Pick<MailThreadOwner, 'isKnown'> {
  readonly url: URL;
  readonly settings: WorkerSettings;
  readonly workers: number;
  /** Messages in flight per worker. */
  readonly inFlight: number;
  readonly maxHeapMb: number;
  /** The time limit for one message. */
  readonly deadlineMs: number;
}

interface Task {
  readonly job: EmailJob;
  readonly signal: AbortSignal;
  /** The number of a worker's places that it takes. */
  readonly places: number;
  readonly resolve: (result: EmailResult) => void;
  readonly reject: (error: Error) => void;
  /** It was in flight in a worker that died, so it runs alone, and once. */
  alone: boolean;
}

type Worker = RpcThread<MailThread, MailThreadOwner>;

interface Slot {
  worker: Worker | undefined;
  /** The worker accepts messages. */
  ready: boolean;
  readonly tasks: Set<Task>;
  /** It runs one suspect alone. */
  quarantined: boolean;
  /** Consecutive deaths of workers before their first message. */
  failedStarts: number;
  restart: NodeJS.Timeout | undefined;
}

/**
 * The buffers of a large message are freed only when the young generation is collected: with the
 * default of 48 MB, each thread keeps 50 MB more (measured with 50 messages of 25 MB). Half of this
 * value would save about 20 MB in total, but small messages would take a fifth longer.
 */
const YOUNG_GENERATION_MB = 24;
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
  #waiting: Task[] = [];
  #suspects: Task[] = [];
  /** Those that have not ended, of which some may be dying. */
  readonly #workers = new Set<Worker>();
  #stopped = false;

  constructor(options: MailWorkerPoolOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#slots = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      ready: false,
      tasks: new Set<Task>(),
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
      const places = Math.max(1, Math.ceil(bytes / PLACE_BYTES));
      this.#waiting.push({ job, signal, places, resolve, reject, alone: false });
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
    for (const { worker } of this.#slots) {
      // A worker that dies meanwhile is followed by one that starts with these shops.
      worker?.call('setShops', shops).catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const unfinished = [...this.#waiting, ...this.#suspects];
    this.#waiting = [];
    this.#suspects = [];
    for (const { reject } of unfinished) reject(new NormalizingUnavailable('stopped'));
    for (const { restart } of this.#slots) clearTimeout(restart);
    await Promise.all([...this.#workers].map((worker) => worker.stop()));
  }

  #assign(): void {
    if (this.#stopped) return;
    this.#waiting = this.#notAborted(this.#waiting);
    this.#suspects = this.#notAborted(this.#suspects);
    this.#assignSuspect();
    while (this.#waiting.length > 0) {
      const slot = this.#leastLoaded();
      const worker = slot && this.#readyWorker(slot);
      if (slot === undefined || worker === undefined) return;
      const task = this.#waiting.shift();
      if (task !== undefined) void this.#read(slot, worker, task);
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
    const worker = slot.tasks.size > 0 ? undefined : this.#readyWorker(slot);
    if (worker === undefined) return;
    this.#suspects.shift();
    void this.#read(slot, worker, suspect);
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
    const idle = running.find(({ tasks, ready }) => tasks.size === 0 && ready);
    if (idle !== undefined) return idle;
    const asleep = open.find(
      ({ worker, restart }) => worker === undefined && restart === undefined,
    );
    if (asleep !== undefined) this.#start(asleep);
    const ready = running.filter((slot) => slot.ready);
    return (
      ready.toSorted((one, other) => one.tasks.size - other.tasks.size)[0] ?? asleep ?? running[0]
    );
  }

  #taken({ tasks }: Slot): number {
    let places = 0;
    for (const task of tasks) places += task.places;
    return places;
  }

  /** Starts a worker in a slot that has none. */
  #readyWorker(slot: Slot): Worker | undefined {
    if (slot.worker === undefined && slot.restart === undefined) this.#start(slot);
    return slot.ready ? slot.worker : undefined;
  }

  async #read(slot: Slot, worker: Worker, task: Task): Promise<void> {
    slot.tasks.add(task);
    try {
      task.resolve(await worker.call('read', task.job));
    } catch (error) {
      this.#onFailed(task, error);
    } finally {
      slot.tasks.delete(task);
      this.#assign();
    }
  }

  #onFailed(task: Task, error: unknown): void {
    if (this.#stopped) {
      task.reject(new NormalizingUnavailable('stopped'));
      return;
    }
    const failure = error instanceof CallFailed ? error.failure : undefined;
    if (!task.alone && (failure === undefined || failure.kind === 'memory')) {
      task.alone = true;
      this.#suspects.push(task);
    } else if (failure === undefined) {
      task.reject(new UnreadableMessage('it ended its worker'));
    } else if (failure.kind === 'system') {
      task.reject(new NormalizingUnavailable(failure.name, failure.code));
    } else {
      this.#logger.error('email.unreadable', { cause: failure.kind, error: failure.name });
      task.reject(new UnreadableMessage(failure.name));
    }
  }

  #start(slot: Slot): void {
    const { url, settings, isKnown, maxHeapMb, deadlineMs } = this.#options;
    const ready = (): void => {
      slot.ready = true;
      slot.failedStarts = 0;
      // In a separate task, because its errors must not be returned to the worker.
      queueMicrotask(() => this.#assign());
    };
    const worker: Worker = new RpcThread(url, {
      functions: { ready, isKnown },
      data: settings,
      limits: {
        maxOldGenerationSizeMb: maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      deadlinesMs: { read: deadlineMs },
      onDeath: () => this.#onDeath(slot, worker),
    });
    slot.worker = worker;
    this.#workers.add(worker);
  }

  /** Its messages fail after this. */
  #onDeath(slot: Slot, worker: Worker): void {
    void worker.stop().then(() => this.#workers.delete(worker));
    const started = slot.ready;
    slot.worker = undefined;
    slot.ready = false;
    this.#logger.warn('email.worker_died', { inFlight: slot.tasks.size, started });
    if (!started) this.#onFailedStart(slot);
    queueMicrotask(() => this.#assign());
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
