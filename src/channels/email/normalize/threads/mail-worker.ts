import { Worker } from 'node:worker_threads';
import type {
  EmailJob,
  EmailResult,
  FromWorker,
  ToWorker,
  WorkerFailure,
  WorkerSettings,
} from '../job.ts';
import type { ShopMailSettings } from '../../shop.ts';
import { TurnBatch } from '../../../../runtime/worker-threads.ts';

/**
 * The buffers of a large message are freed only when the young generation is collected: with the
 * default of 48 MB, each thread keeps 50 MB more (measured with 50 messages of 25 MB). Half of this
 * value would save about 20 MB in total, but small messages would take a fifth longer.
 */
const YOUNG_GENERATION_MB = 24;

export interface MailWorkerOptions {
  readonly url: URL;
  readonly settings: WorkerSettings;
  readonly maxHeapMb: number;
  /** The time limit for one message. */
  readonly deadlineMs: number;
}

export interface MailWorkerEvents {
  /** The worker accepts jobs from now on. */
  onReady(): void;
  onDone(id: number, result: EmailResult): void;
  onFailed(id: number, failure: WorkerFailure): void;
  onQuestion(id: number, ids: readonly string[]): void;
  /** The thread has ended, or was ended at a deadline; everything in flight in it is lost. */
  onDeath(inFlight: readonly number[], ready: boolean): void;
}

/** One worker thread and its messages in flight. After its death it does nothing more. */
export class MailWorker {
  readonly #worker: Worker;
  readonly #events: MailWorkerEvents;
  readonly #deadlineMs: number;
  readonly #deadlines = new Map<number, NodeJS.Timeout>();
  readonly #outgoing: TurnBatch<ToWorker>;
  #ready = false;
  #dead = false;
  #ended: Promise<unknown> | undefined;

  constructor(options: MailWorkerOptions, events: MailWorkerEvents) {
    this.#events = events;
    this.#deadlineMs = options.deadlineMs;
    this.#worker = new Worker(options.url, {
      workerData: options.settings,
      resourceLimits: {
        maxOldGenerationSizeMb: options.maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      // A hostile message must not find a key in the environment, nor a parser an option.
      env: {},
    });
    this.#outgoing = new TurnBatch((messages) => {
      if (!this.#dead) this.#worker.postMessage(messages);
    });
    this.#worker.on('message', (messages: readonly FromWorker[]) => {
      for (const message of messages) this.#onMessage(message);
    });
    this.#worker.on('error', () => this.#die());
    this.#worker.on('exit', () => this.#die());
    this.#worker.on('messageerror', () => this.#die());
  }

  get ready(): boolean {
    return this.#ready && !this.#dead;
  }

  get inFlight(): number {
    return this.#deadlines.size;
  }

  read(id: number, job: EmailJob): void {
    this.#deadlines.set(
      id,
      setTimeout(() => this.#die(), this.#deadlineMs),
    );
    this.#outgoing.add({ kind: 'read', id, job });
  }

  /** Sets how shops want later messages to be read. */
  setShops(shops: readonly ShopMailSettings[]): void {
    this.#outgoing.add({ kind: 'shops', shops });
  }

  answer(id: number, known: boolean): void {
    this.#outgoing.add({ kind: 'known', id, known });
  }

  /** Ends the thread without notifying anyone, or waits until it has ended. */
  async stop(): Promise<void> {
    this.#dead = true;
    this.#clearDeadlines();
    this.#ended ??= this.#worker.terminate();
    await this.#ended;
  }

  #onMessage(message: FromWorker): void {
    if (this.#dead) return;
    switch (message.kind) {
      case 'ready':
        this.#ready = true;
        this.#events.onReady();
        return;
      case 'known?':
        this.#events.onQuestion(message.id, message.ids);
        return;
      case 'done':
        this.#settled(message.id);
        this.#events.onDone(message.id, message.result);
        return;
      case 'failed':
        this.#settled(message.id);
        this.#events.onFailed(message.id, message.failure);
    }
  }

  #settled(id: number): void {
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.delete(id);
  }

  #die(): void {
    if (this.#dead) return;
    this.#dead = true;
    const lost = [...this.#deadlines.keys()];
    this.#clearDeadlines();
    // A thread in an endless loop ends at the engine's next check.
    this.#ended = this.#worker.terminate();
    this.#events.onDeath(lost, this.#ready);
  }

  #clearDeadlines(): void {
    for (const timer of this.#deadlines.values()) clearTimeout(timer);
    this.#deadlines.clear();
  }
}
