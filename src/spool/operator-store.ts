import type { EntryId } from '../domain/ids.ts';

/** What an attempt submitted or would have submitted; kept as long as the raw form. */
export interface DeliveryRecord {
  /** The create-message request as it was last submitted, or would have been. */
  readonly request: unknown;
  /** Text that was removed as a quote or signature. */
  readonly trimmed?: string;
  /** The addresses and numbers on whose timelines it is noted: whom a bounce says was not reached. */
  readonly about?: readonly string[];
  readonly attachments: readonly {
    readonly part: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: number;
    readonly mediaId?: string;
  }[];
}

export interface NewAuditLine {
  readonly who: string;
  readonly action: string;
  /** An entry's id, a shop's name or a count; never an address, a number or a text. */
  readonly target: string;
  readonly outcome: string;
  /** The network address of the operator's browser or program; absent for commands. */
  readonly address?: string;
}
export interface AuditLine extends NewAuditLine {
  readonly no: number;
  readonly at: number;
}

/** Which lines of the audit log; all when empty. */
export interface AuditFilter {
  /** Part of the operator, the target, the outcome or the address, in any case. */
  readonly text?: string;
  readonly actions?: readonly string[];
  /** From this time on, and before that one. */
  readonly from?: number;
  readonly to?: number;
}

/** What only operators ask of the store and change in it, from the console or a command. */
export interface OperatorStore {
  record(id: EntryId): Promise<DeliveryRecord | undefined>;
  /**
   * Undoes a discard. False: the entry is not discarded, or its raw form was swept.
   * @param by the operator, for the timeline
   */
  restore(id: EntryId, by?: string): Promise<boolean>;
  /**
   * Undoes a retry or release of an entry that did not wait for an attempt, unless one has claimed it since:
   * it returns to its state and reason before. False: it cannot be undone.
   */
  takeBack(id: EntryId, by?: string): Promise<boolean>;
  audit(line: NewAuditLine): Promise<void>;
  /** The newest first; `before` is the number of a line. */
  auditLines(
    page: AuditFilter & { readonly before?: number; readonly limit: number },
  ): Promise<readonly AuditLine[]>;
}
