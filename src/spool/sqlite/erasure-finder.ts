import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import { codeOf } from '../../runtime/error-code.ts';
import type { EntryMeta, TimelineStep } from '../entry.ts';
import { blackened } from '../erasure.ts';
import { bodyTexts, readableTexts, textOfJson } from '../erasure-text.ts';
import type {
  LineMention,
  Mention,
  Note,
  Person,
  TracedEntry,
  TracedLane,
  Traces,
  Where,
} from '../erasure.ts';
import type { Db } from './database.ts';
import { readReason } from '../entry-row.ts';
import type { EntryRow } from './entry-row.ts';
import { sentence } from '../../domain/reasons.ts';
import { findVisitors } from './erasure-visitors.ts';

/** Rows per query. Short reads do not keep a running gateway from resetting its WAL. */
const ROWS_AT_ONCE = 500;
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

type Row = Pick<
  EntryRow,
  | 'seq'
  | 'id'
  | 'kind'
  | 'shop'
  | 'channel'
  | 'lane'
  | 'meta'
  | 'state'
  | 'blob'
  | 'has_raw'
  | 'reason'
>;

export interface FinderOptions {
  readonly person: Person;
  /** Searches this shop only. */
  readonly shopId?: ShopId;
  /** Also search other people's messages, which requires reading all of them. */
  readonly others: boolean;
  /** Called after each portion with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
}

export interface Found {
  readonly traces: Traces;
  readonly mentions: readonly Mention[];
  readonly lines: readonly LineMention[];
}

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

  async find(options: FinderOptions): Promise<Found> {
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
        // Written by JSON.stringify of an EntryMeta in `EntryTable.accept`.
        const meta = JSON.parse(row.meta) as EntryMeta;
        if (this.#isTheirs(row, meta, person, ids)) {
          const { seq, id, shop, channel, state } = row;
          entries.push({ seq, id, shopId: shop, channel, state });
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

  #isTheirs(row: Row, meta: EntryMeta, person: Person, visitors: ReadonlySet<string>): boolean {
    if (row.channel === 'web_chat' && visitors.has(`${row.shop}/${String(meta['visitorId'])}`)) {
      return true;
    }
    return person.wrote({ ...row, meta }, () => this.#raw(row));
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

  #notes(row: Row, person: Person): Note[] {
    const { seq } = row;
    const reasons = [row.reason, this.#sql.move.get(seq)?.reason].some(
      (reason) => typeof reason === 'string' && person.isNamedIn(sentence(readReason(reason))),
    );
    const steps = this.#sql.steps.all(seq).filter((part) => namesIn(part.steps, person));
    return [...(reasons ? [{ seq, no: undefined }] : []), ...steps.map(({ no }) => ({ seq, no }))];
  }

  #mentioned(row: Row, person: Person): Where[] {
    const where = new Set<Where>();
    if ([textOfJson(row.meta), row.lane].some((text) => person.isNamedIn(text))) {
      where.add('header');
    }
    const raw = this.#raw(row);
    if (raw !== undefined) {
      for (const part of row.channel === 'email' && row.kind === 'message'
        ? readableTexts(raw)
        : plain(raw)) {
        if (!where.has(part.where) && person.isNamedIn(part.text)) where.add(part.where);
      }
    }
    const record = where.size > 0 ? undefined : this.#sql.record.get(row.seq)?.body;
    if (record !== undefined && person.isNamedIn(textOfJson(recordText(record)))) where.add('body');
    return [...where];
  }

  #lanes(
    table: 'conversations' | 'opt_outs',
    person: Person,
    visitors: ReadonlySet<string>,
    only: ShopId | undefined,
  ): TracedLane[] {
    return this.#sql[table].all().flatMap(({ shop, channel, lane }) => {
      if (only !== undefined && shop !== only) return [];
      const visitor = `${shop}/${lane.slice(0, lane.lastIndexOf('/'))}`;
      const isTheirs = channel === 'sms' ? person.hasSmsLane(lane) : visitors.has(visitor);
      return isTheirs ? [{ shopId: shop, channel, lane }] : [];
    });
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

/** The texts of raw forms that are stored as JSON: text messages, chats and events. */
function* plain(raw: Uint8Array): Generator<{ where: Where; text: string }> {
  const json = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8');
  for (const text of bodyTexts(textOfJson(json))) yield { where: 'body', text };
}

/** Whether `ErasureRows.notes` will find anything to redact. */
function namesIn(steps: string, person: Person): boolean {
  if (!person.occursIn(textOfJson(steps))) return false;
  // Written by JSON.stringify of TimelineSteps in `EntryTable`.
  return (JSON.parse(steps) as TimelineStep[]).some((step) => blackened(step, person) !== step);
}

function recordText(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  return inflateRawSync(body, { maxOutputLength: MAX_RECORD_BYTES }).toString('utf8');
}

type LaneRow = Pick<EntryRow, 'shop' | 'channel' | 'lane'>;

function prepare(db: Db) {
  return {
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
