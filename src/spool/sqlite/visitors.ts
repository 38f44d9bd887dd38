import { laneOf, MOST_RESERVED, toVisitor, type VisitorRow } from '../chat-rows.ts';
import type { Identified, VisitorIdentity } from '../chat-store.ts';
import type { Db } from './database.ts';

interface NumberedRow extends VisitorRow {
  readonly no: number;
  readonly conversation_from_seq: number;
}

/** Merges guests into identified visitors (`ChatStore.identifyVisitor`). */
export class VisitorIdentities {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepareIdentities(db);
  }

  identifyVisitor(identity: VisitorIdentity): Identified {
    const { shopId, subject, guestId, newId, at, name, email } = identity;
    const guest = guestId === undefined ? undefined : this.#sql.visitor.get(shopId, guestId);
    // A guest without stored data may be sending its first line right now.
    const isGuest = guest === undefined || (guest.subject === null && guest.joined === null);
    const superseded = isGuest ? guestId : undefined;
    const known = this.#sql.visitorBySubject.get(shopId, subject);
    const labels = { name: name ?? null, email: email ?? null };
    let joinedLines = 0;
    if (known !== undefined) {
      this.#sql.relabel.run({ no: known.no, ...labels });
      if (superseded !== undefined && guest === undefined) this.#reserve(superseded, known, at);
      else if (superseded !== undefined && guest) joinedLines = this.#join(guest, known);
    } else if (superseded !== undefined && guest !== undefined) {
      this.#sql.adopt.run({ no: guest.no, subject, ...labels });
    } else {
      this.#sql.create.run({ shop: shopId, id: superseded ?? newId, subject, at, ...labels });
    }
    const visitor = this.#sql.visitorBySubject.get(shopId, subject);
    if (visitor === undefined) throw new Error('a visitor that was stored cannot be found');
    const stored = { visitor: toVisitor(visitor), joinedLines };
    return { ...stored, ...(superseded !== undefined && { superseded }) };
  }

  /**
   * Reserves the guest's id, so that a message that was in transit during the identification does
   * not create another visitor; the client sends it again as the identified visitor. By the time
   * the oldest reservation is dropped, nothing is in transit.
   */
  #reserve(id: VisitorRow['id'], { shop, id: joined }: NumberedRow, at: number): void {
    this.#sql.reserve.run({ shop, id, joined, at });
    this.#sql.dropReserved.run({ shop, joined, most: MOST_RESERVED });
  }

  /** @returns how many lines were moved */
  #join(guest: NumberedRow, target: NumberedRow): number {
    const continuesGuest = this.#wroteLast(guest, target);
    let lastSeq = target.last_seq;
    let seenSeq = target.seen_seq;
    let allSeen = this.#sql.unseenReply.get(target.no, target.seen_seq) === undefined;
    // In the order in which the guest saw them: `at` of a reply comes from another clock.
    for (const line of this.#sql.lines.all(guest.no)) {
      const isThere =
        line.sender === 'agent' && this.#sql.replyOf.get(target.no, line.message_id) !== undefined;
      if (isThere) {
        this.#sql.dropLine.run(line.line);
        continue;
      }
      lastSeq += 1;
      this.#sql.moveLine.run(target.no, lastSeq, line.line);
      allSeen &&= line.sender === 'visitor' || line.seq <= guest.seen_seq;
      if (allSeen) seenSeq = lastSeq;
    }
    this.#sql.extend.run({ no: target.no, lastSeq, seenSeq, lastRev: guest.last_rev });
    if (continuesGuest) {
      // A new conversation without any message stays a new one.
      const isEmpty = guest.conversation_from_seq === guest.last_seq;
      const fromSeq = isEmpty ? lastSeq : target.last_seq;
      this.#sql.continueIn.run({ no: target.no, lane: laneOf(guest), fromSeq });
    }
    this.#sql.moveUnusedUploads.run(target.id, target.shop, guest.id);
    this.#sql.moveUsedUploads.run(target.id, target.shop, guest.id);
    this.#sql.markJoined.run(target.id, guest.no);
    return lastSeq - target.last_seq;
  }

  /** Whether the guest wrote last, so that the visitor continues the guest's conversation. */
  #wroteLast(guest: NumberedRow, target: NumberedRow): boolean {
    const guestAt = this.#sql.lastAt.get(guest.no)?.at;
    const targetAt = this.#sql.lastAt.get(target.no)?.at;
    return guestAt !== undefined && guestAt >= (targetAt ?? 0);
  }
}

interface GuestLine {
  readonly line: number;
  readonly seq: number;
  readonly sender: 'visitor' | 'agent';
  readonly message_id: string;
}

function prepareIdentities(db: Db) {
  return {
    visitor: db.prepare<[string, string], NumberedRow>(
      `SELECT * FROM visitors WHERE shop = ? AND id = ?`,
    ),
    visitorBySubject: db.prepare<[string, string], NumberedRow>(
      `SELECT * FROM visitors WHERE shop = ? AND subject = ? AND subject IS NOT NULL`,
    ),
    create: db.prepare(
      `INSERT INTO visitors (shop, id, name, email, subject, created_at)
       VALUES (@shop, @id, @name, @email, @subject, @at)`,
    ),
    relabel: db.prepare(
      `UPDATE visitors SET name = coalesce(@name, name), email = coalesce(@email, email)
       WHERE no = @no AND (name IS NOT coalesce(@name, name) OR email IS NOT coalesce(@email, email))`,
    ),
    // An address that the visitor typed must not be taken for a verified one.
    adopt: db.prepare(
      `UPDATE visitors SET name = coalesce(@name, name), email = coalesce(@email, ''),
         subject = @subject WHERE no = @no`,
    ),
    lines: db.prepare<[number], GuestLine>(
      `SELECT line, seq, sender, message_id FROM journal WHERE visitor = ? ORDER BY seq`,
    ),
    lastAt: db.prepare<[number], { at: number }>(
      `SELECT at FROM journal WHERE visitor = ? AND sender = 'visitor' ORDER BY seq DESC LIMIT 1`,
    ),
    unseenReply: db.prepare<[number, number]>(
      `SELECT 1 FROM journal WHERE visitor = ? AND seq > ? AND sender = 'agent'`,
    ),
    replyOf: db.prepare<[number, string]>(
      `SELECT 1 FROM journal WHERE visitor = ? AND message_id = ? AND sender = 'agent'`,
    ),
    moveLine: db.prepare(`UPDATE journal SET visitor = ?, seq = ? WHERE line = ?`),
    dropLine: db.prepare(`DELETE FROM journal WHERE line = ?`),
    extend: db.prepare(
      `UPDATE visitors SET last_seq = @lastSeq, seen_seq = max(seen_seq, @seenSeq),
         last_rev = max(last_rev, @lastRev) WHERE no = @no`,
    ),
    continueIn: db.prepare(
      `UPDATE visitors
       SET conversation = conversation + 1, lane = @lane, conversation_from_seq = @fromSeq
       WHERE no = @no`,
    ),
    moveUnusedUploads: db.prepare(
      `UPDATE uploads SET visitor = ? WHERE shop = ? AND visitor = ? AND entry IS NULL`,
    ),
    moveUsedUploads: db.prepare(
      `UPDATE uploads SET visitor = ? WHERE shop = ? AND visitor = ? AND entry IS NOT NULL`,
    ),
    reserve: db.prepare(
      `INSERT INTO visitors (shop, id, joined, created_at, reserved)
       VALUES (@shop, @id, @joined, @at, 1)`,
    ),
    dropReserved: db.prepare(
      `DELETE FROM visitors WHERE no IN (
         SELECT no FROM visitors WHERE reserved = 1 AND shop = @shop AND joined = @joined
         ORDER BY no DESC LIMIT -1 OFFSET @most)`,
    ),
    markJoined: db.prepare(
      `UPDATE visitors SET joined = ?, last_seq = 0, seen_seq = 0, conversation_from_seq = 0
       WHERE no = ?`,
    ),
  };
}
