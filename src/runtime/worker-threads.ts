/**
 * The URL of a worker thread's compiled file, given as it is imported (`./x-worker.ts`).
 * A worker is loaded by Node itself, outside of any test transformer: a module that runs from
 * `src/` (under jest) uses the built file of the same name under `dist/`.
 */
export function workerUrl(importer: string, relative: string): URL {
  const source = new URL(relative, importer);
  const href = source.href.replace(/\.ts$/, '.js');
  return new URL(importer.endsWith('.ts') ? href.replace('/src/', '/dist/') : href);
}

/**
 * Collects what is posted to another thread in one turn of the event loop and posts it together:
 * to wake a thread costs more than most messages.
 */
export class TurnBatch<Message> {
  readonly #post: (messages: readonly Message[], transfer: ArrayBuffer[]) => void;
  #messages: Message[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(post: (messages: readonly Message[], transfer: ArrayBuffer[]) => void) {
    this.#post = post;
  }

  add(message: Message, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#messages.length === 0) setImmediate(() => this.#flush());
    this.#messages.push(message);
    this.#transfer.push(...transfer);
  }

  #flush(): void {
    const messages = this.#messages;
    const transfer = this.#transfer;
    this.#messages = [];
    this.#transfer = [];
    this.#post(messages, transfer);
  }
}
