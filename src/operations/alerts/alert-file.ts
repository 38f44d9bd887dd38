import { readFile } from 'node:fs/promises';
import type { DurableFiles } from '../../runtime/durable-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { type AlertRecord, recordsSchema } from './alert.ts';

/** Far more than the alerts of a thousand shops need. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The file that stores alerts across restarts. It is replaced atomically. */
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
   * The alerts that the last process stored. Pending alerts are dropped, and the time that a firing
   * one must be clear starts again, because nothing was evaluated in between. Times later than
   * `now` (the clock was set back) become `now`; otherwise their notices would wait for that time.
   * @throws when the file exists and cannot be used
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

  /**
   * Resolves when the file is durable. Unchanged alerts are not written. Calls run one after the
   * other.
   */
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
