import type { ShopId } from '../../domain/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { StoredRecord } from '../delivery-record.ts';
import { encodeRecord } from '../delivery-record.ts';
import type {
  Claimed,
  ClaimRequest,
  EntryMeta,
  Lease,
  Outcome,
  SavedMedia,
  Settlement,
} from '../entry.ts';
import type { SpoolParams } from '../spool.ts';
import { Batches, numbered } from './batches.ts';
import type { Database, Param } from './connection.ts';
import { CLAIM, RENEW, SAVE_MEDIA, SETTLE, SETTLE_AND_CLAIM } from './delivery-functions.ts';
import { storedForms } from './intake.ts';
import { NOW } from './schema.ts';
import { toEntry, toRawForm } from '../entry-row.ts';
import { type EntryRow, jsonOf, storedReason } from './rows.ts';

/** How often a claim reads all due lanes, however many deleted rows are among them. */
const READS_ALL_EVERY_MS = 5000;
/** While a transaction of another program keeps deleted rows, it takes at most this part of the time. */
const SHARE_THAT_READS_ALL = 50;
/** So long a request of an operator is there for every gateway to take. */
const PROBES_KEPT_MS = 60_000;
/** How often requests of operators are looked for while nothing is claimed. */
const LOOKS_FOR_PROBES_EVERY_MS = 1000;

/** What no claimed entry has to be read for. */
const DELIVERING = {
  state: 'delivering',
  has_raw: true,
  settled_at: null,
  platform_message_id: null,
  conversation_id: null,
} as const;

interface ClaimedRow extends Omit<EntryRow, keyof typeof DELIVERING | 'next_attempt_at'> {
  readonly request: number;
  readonly generation: number;
  readonly next_at: number;
  readonly bytes: Uint8Array | null;
  readonly released: boolean;
  readonly unended: boolean;
  readonly notes: string | null;
  readonly conversation: { readonly id: string; readonly ago: number } | null;
  readonly media: readonly { part: string; media_id: string; url: string | null }[] | null;
}

/** A row of a claim without an entry. */
interface NotesRow {
  readonly request: null;
  readonly notes: string;
}

/** Made by `CLAIM` and `SETTLE_AND_CLAIM`. */
interface Notes {
  readonly floors: Readonly<Record<string, number>>;
  readonly probes: boolean;
  /** The numbers of the attempts that were settled. */
  readonly settled?: readonly number[];
}

interface Attempt {
  readonly lease: Lease;
  readonly outcome: Outcome;
  readonly settlement: Settlement;
  readonly record: StoredRecord | undefined;
}

interface Upload {
  readonly lease: Lease;
  readonly part: string;
  readonly media: SavedMedia;
}

/** The queue as delivery sees it. `DeliveryQueue` documents the methods. */
export class PostgresDeliveries {
  readonly #database: Database;
  readonly #instance: string;
  readonly #clock: Clock;
  /** Below these times no lane is due, by the name of the source of claims. */
  #floors = new Map<string, number>();
  #readsAllAt = 0;
  #lookedForProbesAt = Number.NEGATIVE_INFINITY;
  readonly #probesTaken = new Map<ShopId, number>();
  readonly #settles = new Batches<Attempt, boolean>((attempts) => this.#settle(attempts));
  readonly #uploads = new Batches<Upload, boolean>((uploads) => this.#saveMedia(uploads));

  /** @param instance names this gateway in the leases that it holds */
  constructor(database: Database, instance: string, clock: Clock) {
    this.#database = database;
    this.#instance = instance;
    this.#clock = clock;
  }

  async claim(...asked: SpoolParams<'claim'>): Promise<readonly (readonly Claimed[])[]> {
    const [requests, leaseMs, atMost, expiredBefore] = asked;
    const answers = requests.map((): Claimed[] => []);
    if (requests.length === 0 || atMost <= 0) return answers;
    const stale = expiredBefore === undefined ? 0 : Math.max(0, this.#clock() - expiredBefore);
    const rows = await this.#claimRows(requests, [atMost, leaseMs, stale, this.#instance]);
    for (const row of rows) {
      const claimed = await this.#toClaimed(row);
      if (claimed !== undefined) answers[row.request]?.push(claimed);
    }
    return answers;
  }

  /** From time to time without floors: a lane whose commit took long may be below them. */
  async #claimRows(
    requests: readonly ClaimRequest[],
    values: readonly Param[],
  ): Promise<readonly ClaimedRow[]> {
    const begunAt = this.#clock();
    const before = this.#floors;
    const readsAll = begunAt >= this.#readsAllAt;
    if (readsAll) this.#floors = new Map();
    const floors = this.#floors;
    try {
      const sources = requests.map((request, number) => asked(request, number, floors));
      const claim = [JSON.stringify(sources), ...values];
      return await this.#settles.along(async (attempts) => {
        const { rows, notes } = await this.#settleAndClaim(attempts, claim);
        for (const [name, floor] of Object.entries(notes.floors)) floors.set(name, floor);
        this.#lookedForProbesAt = notes.probes ? Number.NEGATIVE_INFINITY : begunAt;
        const settled = new Set(notes.settled);
        return { results: attempts.map((_, number) => settled.has(number)), other: rows };
      });
    } catch (error) {
      this.#floors = before;
      throw error;
    } finally {
      const now = this.#clock();
      const pause = Math.max(READS_ALL_EVERY_MS, (now - begunAt) * SHARE_THAT_READS_ALL);
      if (readsAll) this.#readsAllAt = now + pause;
    }
  }

  /** Outcomes that wait for a commit share that of the claim. */
  async #settleAndClaim(
    attempts: readonly Attempt[],
    claim: readonly Param[],
  ): Promise<{ readonly rows: readonly ClaimedRow[]; readonly notes: Notes }> {
    const answered =
      attempts.length === 0
        ? await this.#database.query<ClaimedRow | NotesRow>(
            `SELECT * FROM ${CLAIM.name}($1, $2, $3, $4, $5)`,
            claim,
          )
        : await this.#database.query<ClaimedRow | NotesRow>(
            `SELECT * FROM ${SETTLE_AND_CLAIM.name}($1, $2, $3, $4, $5, $6, $7)`,
            [...settleItems(attempts), ...claim],
          );
    const rows = answered.filter((row): row is ClaimedRow => row.request !== null);
    const others = answered.filter((row): row is NotesRow => row.request === null);
    const parts = others.map(({ notes }) => JSON.parse(notes) as Partial<Notes>);
    return { rows, notes: Object.assign({ floors: {}, probes: false }, ...parts) as Notes };
  }

  async requestProbe(shopId: ShopId): Promise<void> {
    await this.#database.query(
      `INSERT INTO probe_request AS before (shop, at) VALUES ($1, ${NOW.name}())
       ON CONFLICT (shop) DO UPDATE SET at = greatest(before.at + 1, EXCLUDED.at)`,
      [shopId],
    );
  }

  /** The last claim has looked for requests, too. */
  async takeProbeRequests(shops: readonly ShopId[]): Promise<readonly ShopId[]> {
    if (this.#clock() - this.#lookedForProbesAt < LOOKS_FOR_PROBES_EVERY_MS) return [];
    const rows = await this.#database.query<{ shop: ShopId; at: number }>(
      `WITH old AS (DELETE FROM probe_request WHERE at < ${NOW.name}() - ${PROBES_KEPT_MS})
       SELECT shop, at FROM probe_request
       WHERE shop = ANY ($1) AND at >= ${NOW.name}() - ${PROBES_KEPT_MS} ORDER BY shop`,
      [[...shops]],
    );
    const asked = rows.filter(({ shop, at }) => at > (this.#probesTaken.get(shop) ?? 0));
    for (const { shop, at } of asked) this.#probesTaken.set(shop, at);
    return asked.map(({ shop }) => shop);
  }

  async #toClaimed(row: ClaimedRow): Promise<Claimed | undefined> {
    const lease = { id: row.id, generation: row.generation };
    const raw = toRawForm(row, row.bytes);
    if (raw === undefined) {
      await this.settle(lease, { state: 'dead', reason: { code: 'raw_missing' } }, { steps: [] });
      return undefined;
    }
    // Delivery compares it with its own clock, from which the database's may differ.
    const ago = row.last_attempt_at;
    const lastAttemptAt = ago === 0 ? 0 : this.#clock() - ago;
    return {
      entry: toEntry({
        ...{ ...row, next_attempt_at: row.next_at, last_attempt_at: lastAttemptAt },
        ...DELIVERING,
      }),
      ...{ lease, raw, released: row.released, isUnended: row.unended },
      media: new Map(
        (row.media ?? []).map(({ part, media_id: id, url }) => [
          part,
          { id, ...(url !== null && { url }) },
        ]),
      ),
      // Written by JSON.stringify of an EntryMeta in `attemptItem`.
      notes: row.notes === null ? {} : (JSON.parse(row.notes) as EntryMeta),
      ...(row.conversation && {
        conversation: { id: row.conversation.id, usedAt: this.#clock() - row.conversation.ago },
      }),
    };
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<readonly Lease[]> {
    if (leases.length === 0) return [];
    const held = await this.#database.query<{ generation: number }>(
      `SELECT generation FROM ${RENEW.name}($1, $2) AS generation`,
      [jsonOf(leases), leaseMs],
    );
    const generations = new Set(held.map(({ generation }) => generation));
    return leases.filter(({ generation }) => !generations.has(generation));
  }

  async settle(...[lease, outcome, settlement, record]: SpoolParams<'settle'>): Promise<boolean> {
    const stored = record && (await encodeRecord(record));
    return this.#settles.add({ lease, outcome, settlement, record: stored });
  }

  async #settle(attempts: readonly Attempt[]): Promise<boolean[]> {
    const settled = await this.#database.query<{ number: number }>(
      `SELECT number FROM ${SETTLE.name}($1, $2) AS number`,
      settleItems(attempts),
    );
    return numbered(attempts, settled).map((row) => row !== undefined);
  }

  saveMedia(lease: Lease, part: string, media: SavedMedia): Promise<boolean> {
    return this.#uploads.add({ lease, part, media });
  }

  async #saveMedia(uploads: readonly Upload[]): Promise<boolean[]> {
    const items = uploads.map(({ lease, part, media }, number) => ({
      ...{ number, ...lease, part, media_id: media.id, url: media.url },
    }));
    const saved = await this.#database.query<{ number: number }>(
      `SELECT number FROM ${SAVE_MEDIA.name}($1) AS number`,
      [jsonOf(items)],
    );
    return numbered(uploads, saved).map((row) => row !== undefined);
  }
}

/** A request as `CLAIM` takes it. */
function asked(
  { shopId, limit, from, retries = 0 }: ClaimRequest,
  number: number,
  floors: ReadonlyMap<string, number>,
): object {
  const due = (failed: boolean) => {
    const name = `${shopId} ${failed ? 'due' : 'untried'}`;
    return { waits: 0, failed, name, floor: floors.get(name) ?? 0 };
  };
  const sources = from.map((source) =>
    typeof source === 'number' ? { waits: source } : due(source === 'due'),
  );
  const again = retries > 0 ? [{ ...due(true), retries }] : [];
  return { number, shop: shopId, limit, from: [...sources, ...again] };
}

/** The parameters of `SETTLE`. */
function settleItems(attempts: readonly Attempt[]): [string, Uint8Array] {
  const parts: Uint8Array[] = [];
  let from = 0;
  const add = (bytes: Uint8Array) => {
    parts.push(bytes);
    from += bytes.byteLength;
    return { from: from - bytes.byteLength, length: bytes.byteLength };
  };
  const items = attempts.map((attempt, number) => ({ number, ...attemptItem(attempt, add) }));
  return [jsonOf(items), Buffer.concat(parts, from)];
}

type AddBytes = (bytes: Uint8Array) => { readonly from: number; readonly length: number };

/** An attempt as `SETTLE` takes it. */
function attemptItem({ lease, outcome, settlement, record }: Attempt, add: AddBytes): object {
  const { steps, notes, followUps = [] } = settlement;
  const deflated = record instanceof Uint8Array ? add(record) : undefined;
  const next = followUps.length > 0 ? storedForms(followUps) : undefined;
  const raws = next && add(next.raws);
  return {
    ...{ ...lease, ...outcomeItem(outcome) },
    ...(steps.length > 0 && { steps: JSON.stringify(steps) }),
    ...(notes !== undefined && { notes: JSON.stringify(notes) }),
    ...(typeof record === 'string' && { record }),
    ...(deflated && { record_from: deflated.from, record_length: deflated.length }),
    ...(next && raws && { follow_ups: next.items, raws_from: raws.from, raws_length: raws.length }),
  };
}

function outcomeItem(outcome: Outcome): object {
  switch (outcome.state) {
    case 'delivered':
      return {
        ...{ state: 'delivered', counts: 1, reason: storedReason(outcome.caveat) },
        ...{ message_id: outcome.platformMessageId, conversation_id: outcome.conversationId },
      };
    case 'queued':
      return {
        ...{ state: 'queued', retry_in: outcome.retryInMs, waits: outcome.waitsFor },
        ...{ reason: storedReason(outcome.reason), failed: outcome.failed ? 1 : 0 },
        ...{
          counts: outcome.counts ? 1 : 0,
          failing_ms: outcome.failingMs,
          detach: outcome.detach,
        },
      };
    case 'dead':
    case 'held':
    case 'suppressed':
      return {
        ...{ state: outcome.state, counts: outcome.state === 'dead' ? 1 : 0 },
        reason: storedReason(outcome.reason),
      };
  }
}
