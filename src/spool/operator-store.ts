import type { EntryState } from '../domain/entry-state.ts';
import type { EntryId } from '../domain/ids.ts';
import type { Reason } from '../domain/reasons.ts';

/** What an attempt submitted or would have submitted; kept as long as the raw form. */
export interface DeliveryRecord {
  /** The create-message request as it was last submitted, or would have been. */
  readonly request: unknown;
  /** Text that was removed as a quote or signature. */
  readonly trimmed?: string;
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
}
export interface AuditLine extends NewAuditLine {
  readonly no: number;
  readonly at: number;
}

/** What only operators ask of the store and change in it, from the console or a command. */
export interface OperatorStore {
  record(id: EntryId): Promise<DeliveryRecord | undefined>;
  /** Undoes a discard. False: the entry is not discarded, or its raw form was swept. */
  restore(id: EntryId): Promise<boolean>;
  /** Undoes a retry or release, unless an attempt has claimed the entry since. */
  takeBack(id: EntryId, to: EntryState, reason: Reason | undefined): Promise<boolean>;
  audit(line: NewAuditLine): Promise<void>;
  auditLines(page: {
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly AuditLine[]>;
}
