import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../../runtime/worker-threads.ts';
import type { RawSource } from '../stored.ts';
import { removeScratch, sweepScratch } from '../normalize/parts/collect-part.ts';
import type { MessageView, ViewJob } from './view-message.ts';

const MAX_HEAP_MB = 256;
const MAX_BUFFER_BYTES = 192 * 1024 * 1024;
const DEADLINE_MS = 20_000;
/** An idle thread is ended after this time, because operators view messages only occasionally. */
const IDLE_MS = 60_000;
const MAX_WAITING = 20;

/**
 * The message cannot be shown: it takes too much time or memory, or there are too many requests.
 */
export class NotViewable extends Error {
  override name = 'NotViewable';
}

type Answer = { readonly ok: true; readonly view: MessageView } | { readonly ok: false };

export interface MessageViewerOptions {
  /** A separate folder, emptied at the start. */
  readonly scratchFolder: string;
  readonly deadlineMs?: number;
}

/** Reads messages for operators, one at a time, in a thread with a deadline and a memory limit. */
export class MessageViewer {
  readonly #scratchFolder: string;
  readonly #deadlineMs: number;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #stopped = false;

  constructor({ scratchFolder, deadlineMs = DEADLINE_MS }: MessageViewerOptions) {
    sweepScratch(scratchFolder);
    this.#scratchFolder = scratchFolder;
    this.#deadlineMs = deadlineMs;
  }

  /** @throws {NotViewable} */
  async view(raw: RawSource, options: { readonly html: boolean }): Promise<MessageView> {
    if (this.#stopped || this.#waiting >= MAX_WAITING) throw new NotViewable('too many at once');
    this.#waiting += 1;
    const mine = this.#last.then(() => this.#read(raw, options.html));
    this.#last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    await this.#last;
  }

  async #read(raw: RawSource, html: boolean): Promise<MessageView> {
    if (this.#stopped) throw new NotViewable('stopped');
    clearTimeout(this.#idle);
    const scratch = join(this.#scratchFolder, randomUUID());
    try {
      return await this.#ask({ raw, html, scratch, maxBufferBytes: MAX_BUFFER_BYTES });
    } finally {
      await removeScratch(scratch);
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  #ask(job: ViewJob): Promise<MessageView> {
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        settle();
        this.#end();
        reject(new NotViewable(why));
      };
      const deadline = setTimeout(() => fail('it takes too long'), this.#deadlineMs);
      const onMessage = (answer: Answer) => {
        settle();
        if (answer.ok) resolve(answer.view);
        else reject(new NotViewable('it cannot be read'));
      };
      const onEnd = () => fail('its reader ended');
      const settle = () => {
        clearTimeout(deadline);
        worker.off('message', onMessage).off('exit', onEnd).off('error', onEnd);
      };
      worker.on('message', onMessage).on('exit', onEnd).on('error', onEnd);
      worker.postMessage(job);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerUrl(import.meta.url, './worker.ts'), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      // A hostile message must not find a key in the environment, nor a parser an option.
      env: {},
    });
    // An error event without a listener would end the process.
    worker.on('error', () => undefined);
    worker.unref();
    return worker;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}
