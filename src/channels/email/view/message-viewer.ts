import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { RpcThread, workerUrl } from '../../../runtime/worker-rpc.ts';
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

export interface ViewThread {
  view(job: ViewJob): Promise<MessageView>;
}

export interface MessageViewerOptions {
  /** A separate folder, emptied at the start. */
  readonly scratchFolder: string;
  readonly deadlineMs?: number;
}

/** Reads messages for operators, one at a time, in a thread with a deadline and a memory limit. */
export class MessageViewer {
  readonly #scratchFolder: string;
  readonly #deadlineMs: number;
  #thread: RpcThread<ViewThread> | undefined;
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
    await this.#thread?.stop();
    await this.#last;
  }

  async #read(raw: RawSource, html: boolean): Promise<MessageView> {
    if (this.#stopped) throw new NotViewable('stopped');
    clearTimeout(this.#idle);
    const scratch = join(this.#scratchFolder, randomUUID());
    const thread = (this.#thread ??= this.#start());
    try {
      const job = { raw, html, scratch, maxBufferBytes: MAX_BUFFER_BYTES };
      return await thread.call('view', job);
    } catch (cause) {
      throw new NotViewable('its reader failed', { cause });
    } finally {
      await removeScratch(scratch);
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  #start(): RpcThread<ViewThread> {
    return new RpcThread(workerUrl(import.meta.url, './worker.ts'), {
      limits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      deadlinesMs: { view: this.#deadlineMs },
      onDeath: () => (this.#thread = undefined),
    });
  }

  #end(): void {
    void this.#thread?.stop();
    this.#thread = undefined;
  }
}
