import type { Terminal } from '../terminal.ts';
import { oneLine } from '../cell.ts';

const BAR_CHARS = 24;
const NAME_CHARS = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** How far an upload is, on one line of the terminal. Draws nothing where nobody looks. */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #name: string;
  readonly #size: number;
  readonly #clock: () => number;
  readonly #startedAt: number;
  #done = 0;
  #drawnAt = -Infinity;

  /** @param clock milliseconds that never go back */
  constructor(
    terminal: Terminal,
    file: { readonly name: string; readonly size: number },
    clock: () => number = () => performance.now(),
  ) {
    this.#terminal = terminal;
    this.#name = file.name;
    this.#size = file.size;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  /** So many bytes more have been read. */
  advance(bytes: number): void {
    this.#done += bytes;
    const now = this.#clock();
    if (!this.#terminal.canDrawOver || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const seconds = (now - this.#startedAt) / 1000;
    this.#terminal.err(`${ERASE_LINE}${bar(this.#name, this.#done, this.#size, seconds)}`);
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#drawnAt !== -Infinity) this.#terminal.err(ERASE_LINE);
  }
}

/** `lamp.jpg  [############------------]  50 %  15.0 of 30.0 MB  12.5 MB/s` */
export function bar(name: string, done: number, size: number, seconds: number): string {
  const share = size === 0 ? 1 : Math.min(1, done / size);
  const filled = Math.floor(share * BAR_CHARS);
  const drawn = '#'.repeat(filled) + '-'.repeat(BAR_CHARS - filled);
  const rate = seconds > 0 ? `  ${megabytes(done / seconds)} MB/s` : '';
  const shown = Array.from(oneLine(name)).slice(0, NAME_CHARS).join('');
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${shown}  [${drawn}] ${percent} %  ${megabytes(done)} of ${megabytes(size)} MB${rate}`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
