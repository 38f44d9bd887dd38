import type { EntryId } from '../../../domain/ids.ts';
import type { AuthenticationVerdict } from './verdict.ts';

const MAX_ENTRIES = 5000;

/**
 * What was found out of entries whose delivery is tried again: a key may be gone from DNS by then,
 * and what was held at first must not go out later. What DNS trouble left open is asked again.
 */
export class KeptVerdicts {
  readonly #verdicts = new Map<EntryId, AuthenticationVerdict>();

  get(id: EntryId): AuthenticationVerdict | undefined {
    return this.#verdicts.get(id);
  }

  set(id: EntryId, verdict: AuthenticationVerdict): void {
    if (verdict.dmarc === 'temperror' || verdict.claimed === 'temperror') return;
    this.#verdicts.set(id, verdict);
    if (this.#verdicts.size <= MAX_ENTRIES) return;
    for (const oldest of this.#verdicts.keys()) {
      this.#verdicts.delete(oldest);
      return;
    }
  }
}
