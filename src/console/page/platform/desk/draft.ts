import type { DeskFile } from '../../../contract.ts';
import { forget, readStored, store, storedKeys } from '../../stored.ts';

/** What somebody has begun to write on a ticket; kept in this browser until it is sent. */
export interface Draft {
  readonly isNote: boolean;
  readonly text: string;
  readonly format: 'TEXT' | 'MARKDOWN';
  readonly files: readonly DeskFile[];
}

export const EMPTY: Draft = { isNote: false, text: '', format: 'TEXT', files: [] };

const PREFIX = 'sluice-draft:';

export const isEmpty = ({ text, files }: Draft): boolean =>
  text.trim() === '' && files.length === 0;

export function readDraft(ticketId: string): Draft {
  try {
    // Written by this page, perhaps before an upgrade.
    return { ...EMPTY, ...(JSON.parse(readStored(PREFIX + ticketId) ?? '{}') as Partial<Draft>) };
  } catch {
    return EMPTY;
  }
}

export function keepDraft(ticketId: string, draft: Draft): void {
  if (isEmpty(draft)) forget(PREFIX + ticketId);
  else store(PREFIX + ticketId, JSON.stringify(draft));
}

/** Drafts may quote customers, so none stays in the browser of somebody who has signed out. */
export function forgetDrafts(): void {
  for (const key of storedKeys()) if (key.startsWith(PREFIX)) forget(key);
}

/** The text with another one inserted at a place, on lines of its own. */
export function withInserted(text: string, at: number, inserted: string): string {
  const before = text.slice(0, at).trimEnd();
  const after = text.slice(at).trimStart();
  return [before, inserted.trim(), after].filter((part) => part !== '').join('\n\n');
}
