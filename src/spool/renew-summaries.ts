import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel } from '../domain/channel.ts';
import type { BlobName, EntryId } from '../domain/ids.ts';
import { codeOf } from '../runtime/error-code.ts';
import type { BlobStore } from './blobs.ts';
import type { EntryKind, EntryMeta, StoredSummary } from './entry.ts';
import { BEGINNING_BYTES, type StoredFormReaders } from './stored-form.ts';

/** The row of an entry whose summary is missing, or was made by another version. */
export interface OutdatedSummary {
  readonly seq: number;
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly channel: Channel;
  /** An `EntryMeta` as JSON. */
  readonly meta: string;
  /** The beginning of the raw form; null when it is in a file or was swept. */
  readonly beginning: Uint8Array | null;
  readonly blob: BlobName | null;
}

export type RenewedSummary = StoredSummary & Pick<OutdatedSummary, 'seq' | 'id'>;

/** Where a store keeps its summaries. */
export interface SummaryStore {
  /** Some outdated summaries after this seq, and how far it looked; undefined: to the end. */
  outdatedSummaries(after: number): Promise<{
    readonly outdated: readonly OutdatedSummary[];
    readonly upTo: number | undefined;
  }>;
  /** Skips entries that were deleted meanwhile. */
  saveSummaries(summaries: readonly RenewedSummary[]): Promise<void>;
}

export interface SummarySources {
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly forms: StoredFormReaders;
}

/** The pause between two portions, so that other work of the gateway can run. */
const PAUSE_MS = 20;

/**
 * Computes outdated summaries after this seq with the channels' functions. Entries whose raw form was
 * swept get a summary from the meta alone.
 * @returns how many were computed; an abort ends it early
 */
export async function renewSummariesAfter(
  seq: number,
  store: SummaryStore,
  { blobs, forms }: SummarySources,
  signal: AbortSignal,
): Promise<number> {
  const summaryOf = async ({ seq: own, id, beginning, blob, meta, ...entry }: OutdatedSummary) => {
    const bytes = beginning ?? (blob && (await beginningOf(blobs, blob))) ?? new Uint8Array();
    // Written by JSON.stringify of an EntryMeta.
    return { seq: own, id, ...forms(entry).summaryOf(JSON.parse(meta) as EntryMeta, bytes) };
  };
  let renewed = 0;
  for (let after: number | undefined = seq; after !== undefined && !signal.aborted;) {
    const portion = await store.outdatedSummaries(after);
    if (portion.outdated.length > 0) {
      await store.saveSummaries(await Promise.all(portion.outdated.map(summaryOf)));
      renewed += portion.outdated.length;
      await sleep(PAUSE_MS);
    }
    after = portion.upTo;
  }
  return renewed;
}

/** Undefined when the blob was swept or deleted meanwhile; the spool reports deletions. */
async function beginningOf(blobs: SummarySources['blobs'], blob: BlobName) {
  try {
    return await buffer(blobs.read(blob, BEGINNING_BYTES));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
