import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ChatStore, NewChatEntry, VisitorMessage } from '../spool/chat-store.ts';
import type {
  Accepted,
  EntryKind,
  EntryMeta,
  NewEntry,
  RawForm,
  StoredSummary,
} from '../spool/entry.ts';
import { withChecksum } from '../spool/blobs.ts';
import type { Spool } from '../spool/spool.ts';
import type { Channel } from '../domain/channel.ts';
import type { Sighting } from '../domain/person-names.ts';
import type { Reason } from '../domain/reasons.ts';
import { writtenAt } from '../domain/written-at.ts';
import { type EntryId, type ShopId, asEntryId } from '../domain/ids.ts';
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** One message for one shop, as its door passes it to the intake. */
export interface Arrival {
  readonly shopId: ShopId;
  readonly channel: Channel;
  /** Default `message`. */
  readonly kind?: EntryKind;
  readonly lane: string;
  /** The names of its sender; `at` is what the message says, NaN if it says nothing. */
  readonly sender?: Sighting;
  readonly dedupKey: string;
  readonly remoteId: string;
  readonly remoteIdIfTaken?: string;
  readonly meta: EntryMeta;
  readonly raw: RawForm;
  readonly summary: StoredSummary;
  /** When it arrived; when it was sent if it was found later (SMS reconciliation). */
  readonly receivedAt?: number;
  /** Stored as `held`, with this reason (postmaster mail, two From lines). */
  readonly hold?: Reason;
  /** Claimed independently of its lane, never holds it back, and keeps its conversation. */
  readonly detached?: boolean;
}

/** A visitor's message; the store chooses its lane. */
export type ChatArrival = Omit<Arrival, 'lane' | 'sender'>;

export type AcceptedChat = Accepted & { readonly seq: number; readonly at: number };

/**
 * The single entry point for all doors. Resolves when every arrival is durable; only then may the
 * door acknowledge. The arrivals of one call are stored together or not at all, so a message
 * for two shops is never half accepted.
 * @throws {SpoolFull} {SpoolUnavailable} nothing was stored; the sender should try again
 */
export interface Intake {
  /**
   * Called before the bytes of a message arrive, so that a message which `accept` would refuse is
   * neither sent nor written. Cheap.
   * @throws {SpoolFull} too little disk space, or one of these shops uses up its share of it
   */
  assertSpace(shopIds: readonly ShopId[]): Promise<void>;
  accept(arrivals: readonly Arrival[]): Promise<readonly Accepted[]>;
  /** Makes an entry that the caller stores in another commit. */
  entryFor(arrival: Arrival): NewEntry;
  /** Stores a visitor's message, journal line and use of uploads in one durable write. */
  acceptChat(
    arrival: ChatArrival,
    message: VisitorMessage,
  ): Promise<AcceptedChat | 'unknown_upload' | 'joined'>;
}

export interface IntakeParts {
  readonly spool: Spool;
  readonly chat: ChatStore;
  /** Waiting bytes of each shop. Without it a single shop may fill the disk. */
  readonly backlog?: Backlog;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Called after each arrival that created an entry, so that delivery starts without polling. */
  readonly onAccepted: (shopId: ShopId, id: EntryId, channel: Channel) => void;
}

/** The part of it that stores nothing. */
export function createEntryIntake(clock: Clock): Pick<Intake, 'entryFor'> {
  const newId = createEntryIds();
  return { entryFor: (arrival) => toEntry(arrival, newId(), clock()) };
}

export function createIntake(parts: IntakeParts): Intake {
  const { spool, chat, backlog, metrics, clock, onAccepted } = parts;
  const newId = createEntryIds();
  const count = (arrival: ChatArrival, { id, duplicate }: Accepted): void => {
    metrics.accepted.inc({ channel: arrival.channel, duplicate: String(duplicate) });
    if (duplicate) return;
    backlog?.accepted(arrival.shopId, arrival.raw);
    onAccepted(arrival.shopId, id, arrival.channel);
  };
  /** A shop's backlog may use up to half of the sum of the free space and that backlog. */
  const assertSpace = (shopIds: readonly ShopId[]): Promise<void> =>
    spool.blobs.assertSpace(Math.max(0, ...shopIds.map((shopId) => backlog?.bytesOf(shopId) ?? 0)));

  return {
    ...createEntryIntake(clock),
    assertSpace,

    async accept(arrivals) {
      await assertSpace(arrivals.map(({ shopId }) => shopId));
      const now = clock();
      const accepted = await spool.accept(
        arrivals.map((arrival) => toEntry(arrival, newId(), now)),
      );
      for (const [index, arrival] of arrivals.entries()) {
        const result = accepted[index];
        if (result !== undefined) count(arrival, result);
      }
      await removeUnused(spool, arrivals, accepted);
      spool.assertSound();
      return accepted;
    },

    async acceptChat(arrival, message) {
      await assertSpace([arrival.shopId]);
      const result = await chat.acceptMessage(withoutLane(arrival, newId(), clock()), message);
      if (typeof result !== 'string') count(arrival, result);
      return result;
    },
  };
}

function toEntry(arrival: Arrival, id: EntryId, now: number): NewEntry {
  const entry = { ...withoutLane(arrival, id, now), lane: arrival.lane };
  const { sender } = arrival;
  if (sender === undefined) return entry;
  return { ...entry, sender: { ...sender, at: writtenAt(sender.at, entry.receivedAt) } };
}

function withoutLane(arrival: ChatArrival, id: EntryId, now: number): NewChatEntry {
  return {
    id,
    kind: arrival.kind ?? 'message',
    shopId: arrival.shopId,
    channel: arrival.channel,
    dedupKey: arrival.dedupKey,
    remoteId: arrival.remoteId,
    receivedAt: arrival.receivedAt ?? now,
    meta: arrival.meta,
    raw: withChecksum(arrival.raw),
    summary: arrival.summary,
    ...(arrival.remoteIdIfTaken !== undefined && { remoteIdIfTaken: arrival.remoteIdIfTaken }),
    ...(arrival.hold !== undefined && { hold: arrival.hold }),
    ...(arrival.detached !== undefined && { detached: arrival.detached }),
  };
}

/** Removes files that only duplicates reference. After a crash the next start sweeps them. */
async function removeUnused(
  spool: Spool,
  arrivals: readonly Arrival[],
  accepted: readonly Accepted[],
): Promise<void> {
  const used = new Set<string>();
  const unused = new Set<RawForm>();
  for (const [index, { raw }] of arrivals.entries()) {
    if (raw.kind !== 'file') continue;
    if (accepted[index]?.duplicate === true) unused.add(raw);
    else used.add(raw.blob);
  }
  for (const raw of unused) {
    if (raw.kind === 'file' && !used.has(raw.blob)) {
      // A failure does not change the answer to the sender: the next start sweeps the file.
      await spool.blobs.remove(raw.blob).catch(() => undefined);
    }
  }
}

/**
 * Bytes of waiting raw forms per shop: the store's last periodic count plus what was accepted
 * since. A shop whose platform is down for days must leave disk space for the others.
 */
export class Backlog {
  #counted: ReadonlyMap<ShopId, number> = new Map();
  #since = new Map<ShopId, number>();

  counted(bytes: ReadonlyMap<ShopId, number>): void {
    this.#counted = bytes;
    this.#since = new Map();
  }

  accepted(shopId: ShopId, raw: RawForm): void {
    const bytes = raw.kind === 'file' ? raw.size : raw.bytes.byteLength;
    this.#since.set(shopId, (this.#since.get(shopId) ?? 0) + bytes);
  }

  bytesOf(shopId: ShopId): number {
    return (this.#counted.get(shopId) ?? 0) + (this.#since.get(shopId) ?? 0);
  }
}

const POOL_BYTES = 4096;
const ID_BYTES = 16;

/**
 * Makes entry ids: UUIDs of version 7 (RFC 9562 §5.7), which sort by time and so keep the index of
 * a busy store compact. Random bytes are drawn for many ids at once, because one system call per id
 * would cost more than the rest.
 */
export function createEntryIds(): () => EntryId {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  const rng = (): Uint8Array => {
    if (used + ID_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += ID_BYTES;
    return pool.slice(used - ID_BYTES, used);
  };
  return () => asEntryId(v7({ rng }));
}
