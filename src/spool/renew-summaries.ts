import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobName } from '../domain/ids.ts';
import { HEAD_BYTES, type StoredForms, SUMMARY_VERSION } from './stored-form.ts';
import type { OutdatedSummary } from './sqlite/summary-table.ts';
import type { Operations } from './sqlite/operations.ts';
import type { Remote } from './sqlite/store-calls.ts';
import { codeOf } from '../runtime/error-code.ts';

/** The mark with the version for which every entry has a summary. */
const MARK = 'summaries';
/** The pause between two portions, so that other work of the gateway can run. */
const PAUSE_MS = 20;

export interface SummaryRenewal {
  readonly store: Pick<
    Remote<Operations>,
    'mark' | 'setMark' | 'outdatedSummaries' | 'saveSummaries'
  >;
  readonly pathOf: (blob: BlobName) => string;
  readonly forms: StoredForms;
  readonly signal: AbortSignal;
}

/**
 * Computes summaries that are missing or were made by an earlier version, with the channels'
 * functions; once per version. Entries whose raw form was swept get a summary from the meta alone.
 * @returns how many were computed; after an abort the next start continues
 */
export async function renewSummaries(renewal: SummaryRenewal): Promise<number> {
  const { store, signal } = renewal;
  if ((await store.mark(MARK)) === SUMMARY_VERSION) return 0;
  let renewed = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    if (signal.aborted) return renewed;
    const { outdated, upTo }: { outdated: OutdatedSummary[]; upTo: number | undefined } =
      await store.outdatedSummaries(after);
    if (outdated.length > 0) {
      await store.saveSummaries(await Promise.all(outdated.map((one) => made(one, renewal))));
      renewed += outdated.length;
      await sleep(PAUSE_MS);
    }
    after = upTo;
  }
  await store.setMark(MARK, SUMMARY_VERSION);
  return renewed;
}

async function made({ seq, id, head, blob, ...entry }: OutdatedSummary, renewal: SummaryRenewal) {
  const bytes = head ?? (blob && (await headOf(renewal.pathOf(blob)))) ?? new Uint8Array();
  return { seq, id, ...renewal.forms(entry).summaryOf(entry.meta, bytes) };
}

/** Undefined when the file was swept or deleted meanwhile; the spool reports deletions. */
async function headOf(path: string): Promise<Uint8Array | undefined> {
  try {
    const file = await open(path);
    try {
      const head = new Uint8Array(HEAD_BYTES);
      const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
      return head.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
