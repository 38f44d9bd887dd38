/**
 * Gathers the lines of one turn of the event loop and writes them together: a log line for each
 * message would otherwise be a system call for each message. At most one turn's lines are lost when
 * the process is killed; one that exits writes them.
 */
export class LineBatch {
  readonly #write: (text: string) => void;
  #lines = '';

  constructor(write: (text: string) => void) {
    this.#write = write;
    process.once('exit', () => this.flush());
  }

  add(line: string): void {
    if (this.#lines === '') setImmediate(() => this.flush());
    this.#lines += `${line}\n`;
  }

  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#write(lines);
  }
}
