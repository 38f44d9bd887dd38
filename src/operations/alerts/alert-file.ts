import { readFile } from 'node:fs/promises';
import type { DurableFiles } from '../../runtime/durable-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { type AlertRecord, recordsSchema } from './alert.ts';

/** A thousand shops, with everything wrong in each, stay well below. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The file in which alerts outlive the process. It is replaced as a whole, or not at all. */
export class AlertFile {
  readonly #path: string;
  readonly #files: Pick<DurableFiles, 'replace'>;
  #written = '';
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, files: Pick<DurableFiles, 'replace'>) {
    this.#path = path;
    this.#files = files;
  }

  /**
   * What the last process left. What was only about to fire, or about to be over, begins anew: nobody
   * looked in the meantime. What was written by a clock that was ahead of `now` counts from now: its
   * notice would wait until the time had come again.
   * @throws when there is a file that cannot be used
   */
  async read(now: number): Promise<AlertRecord[]> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
    if (text.length > MAX_BYTES) throw new RangeError('the file is too large');
    const { alerts } = recordsSchema.parse(JSON.parse(text));
    return alerts
      .filter(({ phase }) => phase !== 'pending')
      .map(({ wellSince: _wellSince, ...record }) => notLaterThan(now, record));
  }

  /** Durable when it resolves; the same as last time costs nothing. One after the other. */
  write(records: readonly AlertRecord[]): Promise<void> {
    const text = `${JSON.stringify({ version: 1, alerts: records }, null, 2)}\n`;
    const write = async (): Promise<void> => {
      if (text === this.#written) return;
      await this.#files.replace(this.#path, text);
      this.#written = text;
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function notLaterThan(now: number, record: AlertRecord): AlertRecord {
  const told = Object.entries(record.told).map(
    ([target, last]) => [target, { ...last, at: Math.min(last.at, now) }] as const,
  );
  return {
    ...record,
    since: Math.min(record.since, now),
    changedAt: Math.min(record.changedAt, now),
    told: Object.fromEntries(told),
  };
}
