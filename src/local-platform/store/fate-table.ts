import type { ReplyFate, ReplyReport, ReplyState } from '../../domain/reply-fate.ts';
import { type Db, statements } from './database.ts';
import type { MessageRow } from './rows.ts';

/** What is known of a reply's way. A reply without a row is as far as its status says. */
export interface FateRow {
  message_id: string;
  shop: string;
  state: ReplyState;
  code: string | null;
  reason: string | null;
  /** Milliseconds since the epoch. */
  at: number;
  /** A failure that nobody has dealt with. */
  is_open: number;
}

/** One message of the provider, of a reply that was sent in one or several. */
export interface PartRow {
  remote_id: string;
  message_id: string;
  /** From 0. */
  part: number;
  state: ReplyReport['state'];
  code: string | null;
  reason: string | null;
}

type NewPart = Pick<PartRow, 'remote_id' | 'message_id' | 'part'>;

/** The ways of replies, and of their parts at the provider of texts. */
export function fateTable(db: Db) {
  const { row, rows, run, number } = statements(db);
  const of = row<[messageId: string], FateRow>(`SELECT * FROM fates WHERE message_id = ?`);
  const set = run<[FateRow]>(
    `INSERT INTO fates (message_id, shop, state, code, reason, at, is_open)
     VALUES (@message_id, @shop, @state, @code, @reason, @at, @is_open)
     ON CONFLICT (message_id) DO UPDATE SET state = @state, code = @code, reason = @reason,
       at = @at, is_open = @is_open`,
  );
  const setPart = run<[Omit<PartRow, 'message_id' | 'part'>]>(
    `UPDATE sent_parts SET state = @state, code = @code, reason = @reason
     WHERE remote_id = @remote_id`,
  );
  return {
    /** How far a reply has come. */
    of(reply: Pick<MessageRow, 'id' | 'status' | 'updated_at'>): ReplyFate {
      const found = of(reply.id);
      if (found === undefined) return fateOfStatus(reply);
      const { state, at, code, reason, is_open: isOpen } = found;
      return {
        ...{ state, at },
        ...(code !== null && { code }),
        ...(reason !== null && { reason }),
        ...(isOpen === 1 && { isOpen: true }),
      };
    },
    /** A failure is open unless this says that somebody has dealt with it. */
    set(
      { id, shop }: Pick<MessageRow, 'id' | 'shop'>,
      { state, code, reason, isOpen = state === 'failed' }: ReplyFate,
      nowMs: number,
    ): void {
      set({
        ...{ message_id: id, shop, state, at: nowMs, is_open: isOpen ? 1 : 0 },
        ...{ code: code ?? null, reason: reason ?? null },
      });
    },
    /** Failures that nobody has dealt with, the latest first. */
    open: rows<[shop: string, limit: number], FateRow>(
      `SELECT * FROM fates INDEXED BY fates_open WHERE shop = ? AND is_open = 1
       ORDER BY at DESC LIMIT ?`,
    ),
    countOpen: number<[shop: string]>(
      `SELECT count(*) FROM fates INDEXED BY fates_open WHERE shop = ? AND is_open = 1`,
    ),
    /** A part that the provider has accepted. */
    addPart: run<[NewPart]>(
      `INSERT INTO sent_parts (remote_id, message_id, part, state)
       VALUES (@remote_id, @message_id, @part, 'sent') ON CONFLICT DO NOTHING`,
    ),
    part: row<[remoteId: string], PartRow>(`SELECT * FROM sent_parts WHERE remote_id = ?`),
    setPart: (remoteId: string, { state, code, reason }: ReplyReport) =>
      setPart({ remote_id: remoteId, state, code: code ?? null, reason: reason ?? null }),
    /** In their order. */
    parts: rows<[messageId: string], PartRow>(
      `SELECT * FROM sent_parts WHERE message_id = ? ORDER BY part`,
    ),
    /** Forgets this part and the later ones, which are sent again. */
    dropParts: run<[messageId: string, from: number]>(
      `DELETE FROM sent_parts WHERE message_id = ? AND part >= ?`,
    ),
  };
}

/** Of a reply that nothing has happened to. */
function fateOfStatus({
  status,
  updated_at: at,
}: Pick<MessageRow, 'status' | 'updated_at'>): ReplyFate {
  if (status === 'PENDING') return { state: 'queued' };
  if (status === 'FAILED') return { state: 'failed', at: Date.parse(at), isOpen: true };
  return { state: 'sent', at: Date.parse(at) };
}
