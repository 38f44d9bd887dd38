import type { Spool } from '../spool/spool.ts';
import type { Entry } from '../spool/entry.ts';
import type { EntryId } from '../domain/ids.ts';

/** Of one watch: a test message is taken within seconds. */
const MAX_SEEN = 5000;

/** Which entry a message became that the console itself has sent. */
export class Arrivals {
  readonly #watches = new Set<EntryId[]>();

  /** On the way of every message: nothing while nobody waits for one. */
  accepted(id: EntryId): void {
    for (const seen of this.#watches) if (seen.length < MAX_SEEN) seen.push(id);
  }

  /**
   * The entry that is accepted while the message is sent and that is this very one; undefined when
   * there is none.
   */
  async entryOf<Sent>(
    spool: Pick<Spool, 'get'>,
    send: () => Promise<Sent>,
    isIt: (entry: Entry, sent: Sent) => boolean,
  ): Promise<EntryId | undefined> {
    const seen: EntryId[] = [];
    this.#watches.add(seen);
    try {
      const sent = await send();
      // It was acknowledged just now: it is among the last.
      for (const id of seen.toReversed()) {
        const entry = await spool.get(id);
        if (entry !== undefined && isIt(entry, sent)) return id;
      }
      return undefined;
    } finally {
      this.#watches.delete(seen);
    }
  }
}
