import type { Attachment } from '../../intake/normalizer.ts';
import type { Entry, RawForm } from '../../spool/entry.ts';

/** What an operator reads of an entry; each channel's own way is handed in. */
export interface EntryContents {
  /**
   * The head of the raw form as text for people, and the kind of thing it is.
   * @param head its first bytes
   */
  rawText(entry: Entry, head: Uint8Array): { readonly text: string; readonly type: string };
  /** @throws {NotReadable} */
  received(
    entry: Entry,
    raw: RawForm,
  ): Promise<{ readonly text?: string; readonly hasHtml: boolean }>;
  /** A document that loads nothing; undefined when there is no HTML. @throws {NotReadable} */
  html(entry: Entry, raw: RawForm): Promise<string | undefined>;
  /** What would be submitted now. `dispose` it. @throws {NotReadable} */
  prepared(entry: Entry, raw: RawForm, signal: AbortSignal): Promise<Prepared>;
}

export interface Prepared {
  readonly request: unknown;
  readonly trimmed?: string;
  readonly attachments: readonly Attachment[];
  dispose(): Promise<void>;
}

/** It cannot be shown: it cannot be read, or not in time, or its shop is not configured. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}
