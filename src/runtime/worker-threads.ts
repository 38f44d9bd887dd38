/**
 * The URL of a worker thread's compiled file, given in the form in which it is imported
 * (`./x-worker.ts`). Node itself loads workers, without any test transformer, so a module that runs
 * from `src/` (under jest) uses the built file of the same name in `dist/`.
 */
export function workerUrl(importer: string, relative: string): URL {
  const source = new URL(relative, importer);
  const href = source.href.replace(/\.ts$/, '.js');
  return new URL(importer.endsWith('.ts') ? href.replace('/src/', '/dist/') : href);
}

/**
 * Collects messages to another thread during one turn of the event loop and posts them together,
 * because waking a thread costs more than most messages.
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
