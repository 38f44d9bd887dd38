import Transport from 'winston-transport';

/** Where winston's formats leave the finished line. */
export const LINE = Symbol.for('message');

/**
 * A transport of winston that gathers the lines of one turn of the event loop and writes them
 * together: a line for each message would otherwise be a system call for each message. At most one
 * turn's lines are lost when the process is killed; one that exits writes them.
 */
export class LineBatch extends Transport {
  readonly #writeOut: (text: string) => void;
  #lines = '';

  constructor(writeOut: (text: string) => void) {
    super();
    this.#writeOut = writeOut;
    process.once('exit', () => this.flush());
  }

  override log(info: Readonly<Record<symbol, unknown>>, next: () => void): void {
    if (this.#lines === '') setImmediate(() => this.flush());
    this.#lines += `${String(info[LINE])}\n`;
    next();
  }

  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#writeOut(lines);
  }
}
