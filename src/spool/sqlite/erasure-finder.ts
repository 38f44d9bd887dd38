import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { recordText } from '../delivery-record.ts';
import { NAME_COLUMNS } from '../entry-row.ts';
import {
  isTheirs,
  mentionedIn,
  notesOf,
  type SearchedEntry,
  theirLanes,
  toTraced,
} from '../erasure-search.ts';
import type {
  FindOptions,
  Found,
  LineMention,
  Mention,
  Note,
  Person,
  StoredName,
  TracedEntry,
  TracedLane,
  Where,
} from '../erasure.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';
import { findVisitors } from './erasure-visitors.ts';

/** Rows per query. Short reads do not keep a running gateway from resetting its WAL. */
const ROWS_AT_ONCE = 500;

type Row = SearchedEntry & Pick<EntryRow, 'has_raw'>;

/** Searches the whole store for a person. Changes nothing. */
export class TraceFinder {
  readonly #db: Db;
  readonly #blobs: string;
  readonly #sql;

  /** @param dir the data folder */
  constructor(db: Db, dir: string) {
    this.#db = db;
    this.#blobs = join(dir, 'blobs');
    this.#sql = prepare(db);
  }

  count(): number {
    return this.#sql.count.get()?.n ?? 0;
  }

  /** Some stored names after this shop, scope and name. */
  names(after: readonly string[]): StoredName[] {
    return this.#sql.names.all(...after, ROWS_AT_ONCE);
  }

  async find(options: FindOptions): Promise<Found> {
    const { person, shopId, others, onProgress } = options;
    const visitors = findVisitors(this.#db, person, shopId);
    const ids = new Set(visitors.map((visitor) => `${visitor.shopId}/${visitor.id}`));
    const entries: TracedEntry[] = [];
    const mentions: Mention[] = [];
    const notes: Note[] = [];
    let seen = 0;
    for (let last = 0; ;) {
      const rows = this.#sql.page.all(last, ROWS_AT_ONCE);
      if (rows.length === 0) break;
      for (const row of rows) {
        if (shopId !== undefined && row.shop !== shopId) continue;
        if (isTheirs(row, person, ids, () => this.#raw(row))) {
          entries.push(toTraced(row));
          continue;
        }
        notes.push(...this.#notes(row, person));
        const where = others ? this.#mentioned(row, person) : [];
        if (where.length > 0) {
          mentions.push({ id: row.id, shopId: row.shop, channel: row.channel, where });
        }
      }
      last = rows.at(-1)?.seq ?? 0;
      seen += rows.length;
      onProgress?.(seen);
      await nextTurn();
    }
    return {
      traces: {
        ...{ entries, visitors, notes },
        conversations: this.#lanes('conversations', person, ids, shopId),
        optOuts: this.#lanes('opt_outs', person, ids, shopId),
      },
      mentions,
      lines: others ? this.#lineMentions(person, ids, shopId) : [],
    };
  }

  #raw({ seq, blob, has_raw: hasRaw }: Row): Uint8Array | undefined {
    if (hasRaw === 0) return undefined;
    if (blob === null) return this.#sql.raw.get(seq)?.bytes;
    try {
      return readFileSync(join(this.#blobs, blob));
    } catch (error) {
      // Swept since the row was read.
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #notes({ seq, reason }: Row, person: Person): Note[] {
    const reasons = [reason, this.#sql.move.get(seq)?.reason];
    return notesOf(seq, { reasons, parts: this.#sql.steps.all(seq) }, person);
  }

  #mentioned(row: Row, person: Person): Where[] {
    return mentionedIn(row, person, this.#raw(row), () => {
      const record = this.#sql.record.get(row.seq)?.body;
      return record === undefined ? undefined : recordText(record);
    });
  }

  #lanes(
    table: 'conversations' | 'opt_outs',
    person: Person,
    visitors: ReadonlySet<string>,
    only: ShopId | undefined,
  ): TracedLane[] {
    return theirLanes(this.#sql[table].all(), person, visitors, only);
  }

  /** Searches other people's chat histories, which are kept longer than raw messages. */
  #lineMentions(
    person: Person,
    visitors: ReadonlySet<string>,
    only: ShopId | undefined,
  ): LineMention[] {
    const found: LineMention[] = [];
    for (const { shop, id, seq, text, attachments } of this.#sql.lines.iterate()) {
      if (visitors.has(`${shop}/${id}`) || (only !== undefined && shop !== only)) continue;
      if (person.isNamedIn(text) || person.isNamedIn(attachments))
        found.push({ shopId: shop, visitorId: id, seq });
    }
    return found;
  }
}

type LaneRow = Pick<EntryRow, 'shop' | 'channel' | 'lane'>;

function prepare(db: Db) {
  return {
    names: db.prepare<(string | number)[], StoredName>(
      `SELECT shop, scope, ${NAME_COLUMNS} FROM person_names
       WHERE (shop, scope, name) > (?, ?, ?) ORDER BY shop, scope, name LIMIT ? + 0`,
    ),
    count: db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM entries`),
    page: db.prepare<[number, number], Row>(
      `SELECT seq, id, kind, shop, channel, lane, meta, state, blob, has_raw, reason FROM entries
       WHERE seq > ? ORDER BY seq LIMIT ? + 0`,
    ),
    raw: db.prepare<[number], { bytes: Uint8Array }>(`SELECT bytes FROM raws WHERE seq = ?`),
    record: db.prepare<[number], { body: string | Uint8Array }>(
      `SELECT body FROM records WHERE seq = ?`,
    ),
    move: db.prepare<[number], { reason: string | null }>(`SELECT reason FROM moves WHERE seq = ?`),
    steps: db.prepare<[number], { no: number; steps: string }>(
      `SELECT no, steps FROM timeline WHERE seq = ?`,
    ),
    conversations: db.prepare<[], LaneRow>(`SELECT shop, channel, lane FROM conversations`),
    opt_outs: db.prepare<[], LaneRow>(`SELECT shop, 'sms' AS channel, lane FROM opt_outs`),
    lines: db.prepare<
      [],
      { shop: ShopId; id: VisitorId; seq: number; text: string; attachments: string }
    >(
      `SELECT v.shop, v.id, j.seq, j.text, j.attachments FROM journal j
       JOIN visitors v ON v.no = j.visitor ORDER BY j.line`,
    ),
  };
}
