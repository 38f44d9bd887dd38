import type { EntryId, ShopId } from '../../domain/ids.ts';
import type {
  Accepted,
  Claimed,
  ClaimRequest,
  ClaimSource,
  EntryMeta,
  Lease,
  NewEntry,
  Outcome,
  SavedMedia,
  Settlement,
} from '../entry.ts';
import { dedupHash, laneHash, remoteHash } from '../hashes.ts';
import { storedReason, toEntry, toRawForm } from '../entry-row.ts';
import type { StoreContext } from './context.ts';
import {
  type EntryRow,
  FILED_PER_CLAIM,
  type FreshRow,
  type MediaRow,
  prepareEntryStatements,
} from './entry-row.ts';
import type { StoredRecord } from '../delivery-record.ts';
import type { ConversationTable } from './lane-tables.ts';

/** While nothing is claimed, `mostFresh` entries stay fresh; the rest is filed in portions. */
export interface BacklogLimits {
  readonly mostFresh: number;
  readonly filedAtOnce: number;
}

/** The result of one request of a claim. */
export interface ClaimAnswer {
  readonly claimed: Claimed[];
  /** Fresh entries remain that have not been filed. */
  more: boolean;
}

/**
 * The writes of intake and delivery (states: `domain/entry-state.ts`). Every method runs in the
 * batch's transaction, is synchronous, and keeps the invariant of `lanes.ts`.
 *
 * An accepted entry is fresh: its row is appended, but it is not yet in the three indexes that are
 * ordered by hashes, each of which would cost one page write per acknowledgement. It is filed into
 * them, in order of arrival, before it can be claimed.
 */
export class EntryTable {
  readonly #context: StoreContext;
  readonly #conversations: ConversationTable;
  readonly #backlog: BacklogLimits;
  readonly #sql;

  constructor(context: StoreContext, conversations: ConversationTable, backlog: BacklogLimits) {
    this.#context = context;
    this.#conversations = conversations;
    this.#backlog = backlog;
    this.#sql = prepareEntryStatements(context.db);
  }

  accept(entries: readonly NewEntry[]): Accepted[] {
    const accepted = entries.map((entry) => this.#acceptOne(entry));
    const { mostFresh, filedAtOnce } = this.#backlog;
    // There may be fewer than were counted, because a command may have discarded some.
    if (this.#context.fresh.count >= mostFresh + filedAtOnce && !this.fileSome()) {
      this.#context.fresh.read();
    }
    return accepted;
  }

  /**
   * The same for a process beside the gateway. The two processes do not share their in-memory
   * state, so all fresh entries are filed first, in order of arrival, and then those of this call.
   */
  acceptFiled(entries: readonly NewEntry[]): Accepted[] {
    while (this.fileSome()) continue;
    this.#context.fresh.read();
    const accepted = entries.map((entry) => this.#acceptOne(entry));
    while (this.fileSome()) continue;
    return accepted;
  }

  /** Files some fresh entries. True: there may be more. */
  fileSome(): boolean {
    const { filedAtOnce } = this.#backlog;
    const rows = this.#sql.anyFresh.all(filedAtOnce);
    this.#file(rows);
    return rows.length === filedAtOnce;
  }

  /** Files the fresh entries of one lane. */
  fileLane({ shop, lane_hash }: Pick<EntryRow, 'shop' | 'lane_hash'>): void {
    this.#file(this.#sql.freshOfLane.all({ shop, lane_hash }));
  }

  #acceptOne(entry: NewEntry): Accepted {
    const hash = dedupHash(entry);
    const first = this.#firstWith(hash);
    if (first !== undefined) return { id: first, duplicate: true };
    const { id, shopId, channel, hold, detached, raw, summary, sender } = entry;
    const lane =
      sender === undefined
        ? entry.lane
        : this.#context.names.laneFor(shopId, sender, entry.receivedAt);
    const isInLane = hold === undefined && detached !== true;
    const remoteId = this.#freeRemoteId(entry);
    const { lastInsertRowid } = this.#sql.insert.run(
      id,
      entry.kind,
      shopId,
      channel,
      lane,
      laneHash({ shopId, channel, lane }),
      hash,
      remoteId,
      remoteHash(shopId, remoteId),
      entry.receivedAt,
      JSON.stringify(entry.meta),
      hold === undefined ? 'queued' : 'held',
      // An entry that is in no lane is filed at once.
      isInLane ? 0 : 1,
      detached === true && hold === undefined ? 1 : 0,
      detached === true ? 1 : 0,
      Math.min(entry.receivedAt, this.#context.clock()),
      storedReason(hold),
      raw.kind === 'inline' ? raw.bytes.byteLength : raw.size,
      raw.kind === 'file' ? raw.blob : null,
      raw.checksum ?? null,
    );
    if (raw.kind === 'inline') this.#sql.insertRaw.run(lastInsertRowid, raw.bytes);
    if (summary !== undefined) {
      const { from, to, subject, more } = summary;
      this.#sql.insertSummary.run(lastInsertRowid, from, to, subject, more);
    }
    if (isInLane) {
      this.#context.fresh.add({ id, shop: shopId, channel, dedup_hash: hash, remote_id: remoteId });
    }
    return { id, duplicate: false };
  }

  /** The existing entry for this message. */
  firstOf(entry: Pick<NewEntry, 'shopId' | 'channel' | 'dedupKey'>): EntryId | undefined {
    return this.#firstWith(dedupHash(entry));
  }

  #firstWith(hash: Uint8Array): EntryId | undefined {
    return (
      this.#context.fresh.idOf(hash) ??
      this.#sql.byDedupHash.get(hash)?.id ??
      this.#context.erased.firstWith(hash)
    );
  }

  #freeRemoteId({ shopId, remoteId, remoteIdIfTaken }: NewEntry): string {
    if (remoteIdIfTaken === undefined) return remoteId;
    return this.hasRemoteId(shopId, remoteId) ? remoteIdIfTaken : remoteId;
  }

  /** Whether an email of this shop has this `remote_id`, or an erased one had it. */
  hasRemoteId(shopId: ShopId, remoteId: string): boolean {
    return (
      this.#context.fresh.hasRemoteId(shopId, remoteId) ||
      this.#sql.remoteIdTaken.get(remoteHash(shopId, remoteId), remoteId, shopId) !== undefined ||
      this.#context.erased.hasRemoteId(shopId, remoteId)
    );
  }

  /**
   * Files fresh entries; those of one lane must be in order of arrival.
   * @returns up to `leases` of those that are heads of their lanes, leased
   */
  #file(rows: readonly FreshRow[], leases = 0, leaseUntil = 0): EntryRow[] {
    const leased: EntryRow[] = [];
    for (const row of rows) {
      const isHead = !this.#context.lanes.has(row);
      if (isHead && leased.length < leases) {
        const lease = this.#sql.fileAndLease.get(leaseUntil, row.seq);
        if (lease !== undefined) leased.push(lease);
      } else {
        this.#sql.file.run(isHead ? 1 : 0, row.seq);
      }
      this.#context.fresh.remove(row);
    }
    return leased;
  }

  claim(
    requests: readonly ClaimRequest[],
    leaseMs: number,
    atMost: number,
    expiredBefore: number = this.#context.clock(),
  ): ClaimAnswer[] {
    this.#sql.expireLeases.run(expiredBefore);
    const answers = requests.map((): ClaimAnswer => ({ claimed: [], more: false }));
    let open = [...requests.entries()];
    let left = atMost;
    while (left > 0 && open.length > 0) {
      const share = Math.max(1, Math.floor(left / open.length));
      open = open.filter(([index, request]) => {
        const answer = answers[index];
        if (answer === undefined) return false;
        const limit = Math.min(share, left, request.limit - answer.claimed.length);
        // `failures`, as in `untried`. An entry that waited for its shop counts here, too, so a claim
        // may return fewer retries than requested; the next one returns the others.
        const retried = answer.claimed.filter(({ entry }) => entry.failures > 0).length;
        const retries = Math.max(0, (request.retries ?? 0) - retried);
        const { claimed, more } = this.#claimOf({ ...request, limit, retries }, leaseMs);
        answer.claimed.push(...claimed);
        answer.more = more;
        left -= claimed.length;
        return claimed.length === limit && answer.claimed.length < request.limit;
      });
    }
    return answers;
  }

  #claimOf({ shopId, limit, from, retries = 0 }: ClaimRequest, leaseMs: number): ClaimAnswer {
    const now = this.#context.clock();
    const rows: EntryRow[] = [];
    const unended = new Set<number>();
    let filed = 0;
    const lease = (source: ClaimSource, atMost: number) => {
      for (const { seq, lease_until: until } of this.#ready(shopId, source, now, atMost)) {
        rows.push(...this.#sql.lease.all(now + leaseMs, seq));
        if (until) unended.add(seq);
      }
    };
    for (const source of from) {
      if (rows.length >= limit) break;
      lease(source, limit - rows.length);
      if (typeof source === 'number' || rows.length >= limit) continue;
      const fresh = this.#sql.freshOf.all(shopId);
      filed = fresh.length;
      rows.push(...this.#file(fresh, limit - rows.length, now + leaseMs));
    }
    if (rows.length < limit && retries > 0) lease('due', Math.min(retries, limit - rows.length));
    const claimed = rows.flatMap((row) => this.#toClaimed(row, now, unended.has(row.seq)) ?? []);
    return { claimed, more: claimed.length < limit && filed === FILED_PER_CLAIM };
  }

  #ready(shopId: ShopId, source: ClaimSource, now: number, limit: number) {
    if (typeof source === 'number') return this.#sql.waiting.all(shopId, source, now, limit);
    return this.#sql[source].all(shopId, now, limit);
  }

  #toClaimed(row: EntryRow, now: number, isUnended: boolean): Claimed | undefined {
    const bytes = row.blob === null ? this.#sql.raw.get(row.seq)?.bytes : undefined;
    const raw = toRawForm(row, bytes);
    if (raw === undefined) {
      this.#sql.lostRaw.run(now, storedReason({ code: 'raw_missing' }), row.seq);
      this.#context.lanes.promoteNext(row);
      return undefined;
    }
    // There is none before the first attempt.
    const media = row.generation === 1 ? [] : this.#sql.media.all(row.seq);
    const entry = toEntry(row);
    const conversation =
      entry.channel === 'email' ? undefined : this.#conversations.conversation(entry);
    return {
      entry,
      lease: { id: row.id, generation: row.generation },
      ...{ raw, isUnended },
      media: new Map(media.map(({ part, ...row }) => [part, toSavedMedia(row)])),
      released: row.released === 1,
      // Written by JSON.stringify of an EntryMeta in `settle`.
      notes: row.notes === null ? {} : (JSON.parse(row.notes) as EntryMeta),
      ...(conversation && { conversation }),
    };
  }

  renew(leases: readonly Lease[], leaseMs: number): Lease[] {
    const until = this.#context.clock() + leaseMs;
    return leases.filter(({ id, generation }) => {
      return this.#sql.renew.run(until, id, generation).changes === 0;
    });
  }

  settle(
    lease: Lease,
    outcome: Outcome,
    { steps, notes, followUps = [] }: Settlement,
    record?: StoredRecord,
  ): boolean {
    const now = this.#context.clock();
    const row = this.#sql.ofLease.get(lease.id, lease.generation);
    const leaseUntil = row?.lease_until ?? undefined;
    if (row === undefined || leaseUntil === undefined) return false;
    if (leaseUntil === 0) return row.state === outcome.state;
    if (steps.length > 0)
      this.#sql.insertSteps.run({ seq: row.seq, at: now, steps: JSON.stringify(steps) });
    if (record !== undefined) this.#sql.insertRecord.run(row.seq, record);
    for (const entry of followUps) this.#acceptOne(entry);
    switch (outcome.state) {
      case 'delivered':
        this.#sql.delivered.run({
          now,
          seq: row.seq,
          messageId: outcome.platformMessageId ?? null,
          conversationId: outcome.conversationId ?? null,
          caveat: storedReason(outcome.caveat),
        });
        if (outcome.conversationId !== undefined && outcome.caveat === undefined) {
          this.#conversations.useConversation({ shopId: row.shop, ...row }, outcome.conversationId);
        }
        break;
      case 'queued':
        this.#sql.retryLater.run({
          now,
          seq: row.seq,
          next: now + outcome.retryInMs,
          waits: outcome.waitsFor,
          reason: storedReason(outcome.reason),
          notes: notes === undefined ? null : JSON.stringify(notes),
          failed: outcome.failed ? 1 : 0,
          counts: outcome.counts ? 1 : 0,
          failingMs: outcome.failingMs,
          detached: outcome.detach ? 1 : 0,
        });
        break;
      case 'dead':
      case 'held':
      case 'suppressed':
        this.#sql.setAside.run({
          now,
          seq: row.seq,
          state: outcome.state,
          reason: storedReason(outcome.reason),
          counts: outcome.state === 'dead' ? 1 : 0,
          settledAt: outcome.state === 'held' ? null : now,
        });
        break;
    }
    const leavesLane = outcome.state !== 'queued' || outcome.detach;
    if (row.detached === 0) {
      if (leavesLane) this.#context.lanes.promoteNext(row);
      else this.#context.lanes.promoteFirst(row);
    }
    return true;
  }

  saveMedia(lease: Lease, part: string, { id, url }: SavedMedia): boolean {
    const row = this.#sql.ofLease.get(lease.id, lease.generation);
    if (!row?.lease_until) return false;
    this.#sql.insertMedia.run(row.seq, part, id, url ?? null);
    return true;
  }
}

function toSavedMedia({ media_id: id, url }: Omit<MediaRow, 'part'>): SavedMedia {
  return { id, ...(url !== null && { url }) };
}
