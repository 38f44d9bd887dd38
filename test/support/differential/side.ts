import type { EntryId } from '../../../src/domain/ids.ts';
import type {
  ClaimRequest,
  Claimed,
  Entry,
  Lease,
  Outcome,
  SavedMedia,
  Settlement,
} from '../../../src/spool/entry.ts';
import type { Eraser } from '../../../src/spool/erasure.ts';
import type { Store } from '../../../src/spool/store.ts';
import type { StoredFormReader } from '../../../src/spool/stored-form.ts';

/** What of a store is compared. */
export interface Compared extends Pick<
  Store,
  'spool' | 'optOuts' | 'chat' | 'operator' | 'apiTokens' | 'renewSummaries'
> {
  readonly eraser: Eraser;
}

/** One of the two stores, with the leases that it has given. */
export class Side {
  readonly spool: Store['spool'];
  readonly optOuts: Store['optOuts'];
  readonly chat: Store['chat'];
  readonly operator: Store['operator'];
  readonly apiTokens: Store['apiTokens'];
  readonly eraser: Eraser;
  readonly #renewSummaries: Store['renewSummaries'];
  /** The ids of all that were added. */
  readonly uploads = new Set<string>();
  readonly #leases = new Map<EntryId, Lease>();

  constructor({ spool, optOuts, chat, operator, apiTokens, eraser, renewSummaries }: Compared) {
    this.spool = spool;
    this.optOuts = optOuts;
    this.chat = chat;
    this.operator = operator;
    this.apiTokens = apiTokens;
    this.eraser = eraser;
    this.#renewSummaries = renewSummaries;
  }

  /** What was claimed, by id: the order of what is due depends on the moment. */
  async claim(requests: readonly ClaimRequest[], leaseMs: number): Promise<unknown> {
    const claimed = (await this.spool.claim(requests, leaseMs, 1000)).flat();
    for (const { entry, lease } of claimed) this.#leases.set(entry.id, lease);
    return claimed.map(shownClaim).toSorted((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
  }

  async renew(leaseMs: number): Promise<unknown> {
    const lost = await this.spool.renew([...this.#leases.values()], leaseMs);
    return lost.map(({ id }) => id).toSorted();
  }

  /** As at the start of a gateway, which has no lease yet. */
  async recover(): Promise<number> {
    this.#leases.clear();
    return (await this.spool.recover()).requeued;
  }

  /** With the last lease of this entry, or one that never was. */
  async settle(id: EntryId, outcome: Outcome, settlement: Settlement): Promise<boolean> {
    return this.spool.settle(this.#leaseOf(id), outcome, settlement);
  }

  saveMedia(id: EntryId, part: string, media: SavedMedia): Promise<boolean> {
    return this.spool.saveMedia(this.#leaseOf(id), part, media);
  }

  /** As at the first start of a version that makes others. */
  async renewSummaries(): Promise<number> {
    await this.spool.setMark('summaries', 0);
    const summaryOf: StoredFormReader['summaryOf'] = (meta, bytes) => {
      return {
        from: JSON.stringify(meta),
        to: 'us',
        subject: '',
        more: Buffer.from(bytes).toString(),
      };
    };
    const forms = () => ({ summaryOf, identitiesIn: () => [] });
    return this.#renewSummaries(forms, new AbortController().signal);
  }

  /** Everything that is stored of an entry. */
  async all(id: EntryId): Promise<unknown> {
    const [entry, timeline, raw] = [
      await this.spool.get(id),
      await this.spool.timeline(id),
      await this.spool.raw(id),
    ];
    return {
      entry: entry && shownEntry(entry),
      timeline: timeline.map(({ step, detail }) => ({ step, detail })),
      raw: raw?.kind === 'inline' ? Buffer.from(raw.bytes).toString() : raw,
    };
  }

  #leaseOf(id: EntryId): Lease {
    return this.#leases.get(id) ?? { id, generation: 1_000_000 };
  }
}

/** Times differ by the moment of the call: only whether there is one, and whether it is far away. */
function shownEntry({ lastAttemptAt, nextAttemptAt, settledAt, ...entry }: Entry) {
  return {
    ...entry,
    wasTried: lastAttemptAt > 0,
    isFarAway: nextAttemptAt > Date.now() + 3_600_000,
    isSettled: settledAt !== undefined,
  };
}

function shownClaim({ entry, raw, media, conversation, lease: _, ...claim }: Claimed) {
  return {
    ...claim,
    entry: shownEntry(entry),
    raw: raw.kind === 'inline' ? Buffer.from(raw.bytes).toString() : raw.blob,
    media: [...media].toSorted(),
    conversation: conversation?.id,
  };
}
