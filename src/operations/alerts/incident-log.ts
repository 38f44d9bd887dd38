import { readFile } from 'node:fs/promises';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DurableFiles } from '../../runtime/durable-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import type { AlertRecord } from './alert.ts';
import { type Incident, incidentsIn } from './incident.ts';

/** Some months of a gateway that is seldom in trouble. */
const MAX_INCIDENTS = 500;

interface LogParts {
  readonly path: string;
  readonly files: Pick<DurableFiles, 'replace'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The latest incidents of this gateway, in a file that outlives it. It explains what operators see
 * afterwards, so a failure to read or write it is only logged.
 */
export class IncidentLog {
  readonly #parts: LogParts;
  #incidents: Incident[];
  #written: Promise<void> = Promise.resolve();

  static async open(parts: LogParts): Promise<IncidentLog> {
    return new IncidentLog(parts, await readIncidents(parts));
  }

  constructor(parts: LogParts, incidents: readonly Incident[]) {
    this.#parts = parts;
    this.#incidents = [...incidents];
  }

  /** The oldest first, by when they were recorded. */
  get all(): readonly Incident[] {
    return this.#incidents;
  }

  started(): void {
    this.#add({ kind: 'start', at: this.#parts.clock() });
  }

  /** @param outcome `1 changed: log.level` or `refused` */
  reloaded(outcome: string, who: string): void {
    this.#add({ kind: 'reload', at: this.#parts.clock(), outcome, who });
  }

  /**
   * Takes over the alerts that fire now: new ones begin, and those that no longer fire end. Alerts of
   * an earlier process whose state was lost end, too.
   */
  firing(records: readonly AlertRecord[]): void {
    const firing = records.filter(({ phase }) => phase === 'firing');
    const open = new Set<string>();
    let isChanged = false;
    this.#incidents = this.#incidents.map((each) => {
      if (each.kind !== 'alert' || each.until !== undefined) return each;
      if (firing.some(({ key }) => key === each.key)) {
        open.add(each.key);
        return each;
      }
      isChanged = true;
      return { ...each, until: this.#parts.clock() };
    });
    for (const { key, rule, severity, summary, shop, since } of firing) {
      if (open.has(key)) continue;
      isChanged = true;
      this.#incidents.push({
        ...{ kind: 'alert', at: since, key, rule, severity, summary },
        ...(shop !== undefined && { shop }),
      });
    }
    if (isChanged) this.#write();
  }

  /** Resolves when the file is written. */
  async stop(): Promise<void> {
    await this.#written;
  }

  #add(made: Incident): void {
    this.#incidents.push(made);
    this.#write();
  }

  #write(): void {
    const { path, files, logger } = this.#parts;
    this.#incidents = this.#incidents.slice(-MAX_INCIDENTS);
    const text = `${JSON.stringify({ version: 1, incidents: this.#incidents })}\n`;
    this.#written = this.#written
      .then(() => files.replace(path, text))
      .catch((error: unknown) => logger.warn('incidents.not_written', errorFields(error)));
  }
}

async function readIncidents({ path, logger }: LogParts): Promise<readonly Incident[]> {
  try {
    return incidentsIn(await readFile(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') logger.warn('incidents.unreadable', errorFields(error));
    return [];
  }
}
