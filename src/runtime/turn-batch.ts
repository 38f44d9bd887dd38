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
