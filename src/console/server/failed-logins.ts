import type { Clock } from '../../runtime/clock.ts';
import type { Audit } from './audit.ts';

const EVERY_MS = 60_000;
/** Lines a minute from all addresses together: nobody fills the disk from a thousand of them. */
const MAX_LINES = 30;

/**
 * Wrong passwords in the audit: at most a line a minute for each address. Never the name that was
 * given, which is often a password in the wrong field.
 */
export class FailedLogins {
  readonly #audit: Audit;
  readonly #clock: Clock;
  #minute = 0;
  readonly #told = new Set<string>();

  constructor(audit: Audit, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  async add(address: string): Promise<void> {
    const minute = Math.floor(this.#clock() / EVERY_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#told.clear();
    }
    if (this.#told.has(address) || this.#told.size >= MAX_LINES) return;
    this.#told.add(address);
    await this.#audit.write({
      who: 'unknown',
      action: 'login_failed',
      target: 'console',
      outcome: 'refused',
    });
  }
}
