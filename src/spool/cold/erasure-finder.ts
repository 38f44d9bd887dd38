import type { ShopId } from '../../domain/ids.ts';
import { sentence } from '../../domain/reasons.ts';
import type { EntryMeta, StoredSummary } from '../entry.ts';
import { type EntryRow, NAME_COLUMNS, readReason } from '../entry-row.ts';
import type {
  FindOptions,
  Found,
  LineMention,
  Mention,
  Note,
  Person,
  StoredName,
  TracedEntry,
  TracedUpload,
  TracedVisitor,
} from '../erasure.ts';
import type { LaneKey } from '../spool.ts';
import { type Dialect, type Param, type Run, rowsOf } from './operation.ts';
import { redacted } from './redacted.ts';

/** Short reads do not keep a running gateway from resetting SQLite's WAL. */
const ROWS_PER_PAGE = 500;

interface SearchedRow
  extends
    TracedEntry,
    Pick<EntryRow, 'kind' | 'lane' | 'meta' | 'reason'>,
    Readonly<Record<keyof StoredSummary, string | null>> {
  readonly move_reason: string | null;
  readonly event: Uint8Array | null;
}

type VisitorRow = Pick<TracedVisitor, 'no' | 'shopId' | 'id'> &
  Readonly<Record<'email' | 'subject' | 'name', string | null>>;

interface LineRow extends LineMention {
  readonly visitor: number;
  readonly text: string;
  readonly attachments: string;
}

type OfShop = Pick<TracedEntry, 'shopId'>;

/** Whether a row is of this shop; any is, if it is undefined. */
const isOf =
  (shopId: ShopId | undefined) =>
  (row: OfShop): boolean =>
    shopId === undefined || row.shopId === shopId;

/** A visitor's key in the set of a person's visitors. */
const visitorKey = (shop: ShopId, id: string): string => `${shop}/${id}`;

/** Searches the whole store for a person, in pages by key. Changes nothing. */
export class TraceFinder {
  readonly #run: Run;
  readonly #sql;

  constructor(run: Run, dialect: Dialect) {
    this.#run = run;
    this.#sql = queries(dialect);
  }

  async count(): Promise<number> {
    const [row] = await this.#rows<{ n: number }>(this.#sql.count);
    return row?.n ?? 0;
  }

  async *names(): AsyncGenerator<StoredName> {
    for await (const page of this.#pages<StoredName>(this.#sql.names, ['shop', 'scope', 'name'])) {
      yield* page;
    }
  }

  async find(options: FindOptions): Promise<Found> {
    const { person, others, onProgress } = options;
    const visitors = await this.#visitors(person, options.shopId);
    const keys = new Set(visitors.map(({ shopId, id }) => visitorKey(shopId, id)));
    const entries: TracedEntry[] = [];
    const mentions: Mention[] = [];
    const notes: Note[] = [];
    let seen = 0;
    const { entries: rows, seqs } = this.#sql;
    for await (const page of this.#pages<SearchedRow>(rows, ['seq'], seqs)) {
      const rest: SearchedRow[] = [];
      for (const row of page.filter(isOf(options.shopId))) {
        const { seq, id, shopId, channel, state } = row;
        if (isTheirs(row, person, keys)) entries.push({ seq, id, shopId, channel, state });
        else rest.push(row);
      }
      notes.push(...(await this.#notes(page, rest, person)));
      for (const row of others ? rest : []) {
        const { id, shopId, channel } = row;
        if (isMentionedIn(row, person)) mentions.push({ id, shopId, channel, where: ['header'] });
      }
      seen += page.length;
      onProgress?.(seen);
    }
    const isTheirLane = ({ shopId, channel, lane }: LaneKey) =>
      channel === 'sms'
        ? person.hasSmsLane(lane, shopId)
        : keys.has(visitorKey(shopId, lane.slice(0, lane.lastIndexOf('/'))));
    const lanes = (query: string, key: readonly (keyof LaneKey)[]) =>
      this.#all(query, key, options.shopId, isTheirLane);
    return {
      traces: {
        entries,
        visitors,
        notes,
        conversations: await lanes(this.#sql.conversations, ['shopId', 'channel', 'lane']),
        optOuts: await lanes(this.#sql.optOuts, ['shopId', 'lane']),
      },
      mentions,
      lines: others ? await this.#lines(person, keys, options.shopId) : [],
    };
  }

  /** The store's own texts about other people's entries that name the person. */
  async #notes(
    page: readonly SearchedRow[],
    rest: readonly SearchedRow[],
    person: Person,
  ): Promise<Note[]> {
    const notes: Note[] = [];
    for (const { seq, reason, move_reason: moved } of rest) {
      const isNamed = [reason, moved].some(
        (stored) => stored !== null && person.isNamedIn(sentence(readReason(stored))),
      );
      if (isNamed) notes.push({ seq, no: undefined });
    }
    const seqs = new Set(rest.map(({ seq }) => seq));
    const [first = 0, last = 0] = [page[0]?.seq, page.at(-1)?.seq];
    type Steps = Note & { readonly no: number; readonly steps: string };
    for (const { seq, no, steps } of await this.#rows<Steps>(this.#sql.steps, first, last)) {
      if (seqs.has(seq) && redacted(steps, person) !== steps) notes.push({ seq, no });
    }
    return notes;
  }

  /** A person's visitors: by id, subject or address, and those that were merged with one. */
  async #visitors(person: Person, shopId?: ShopId): Promise<readonly TracedVisitor[]> {
    const isTheirs = (row: VisitorRow) =>
      [row.id, row.email, row.subject, row.name].some((name) => name && person.is(name));
    const named = await this.#all(this.#sql.visitors, ['no'], shopId, isTheirs);
    const found = new Map<number, TracedVisitor>();
    for (const { no } of named) {
      if (found.has(no)) continue;
      for (const one of await this.#rows<Omit<TracedVisitor, 'uploads'>>(this.#sql.merged, no)) {
        const uploads = await this.#rows<TracedUpload>(this.#sql.uploads, one.shopId, one.id);
        found.set(one.no, { ...one, uploads });
      }
    }
    return [...found.values()].toSorted((a, b) => a.no - b.no);
  }

  /** Searches other people's chat histories, which are kept longer than raw messages. */
  async #lines(
    person: Person,
    visitors: ReadonlySet<string>,
    shopId?: ShopId,
  ): Promise<LineMention[]> {
    const isMention = (row: LineRow) =>
      !visitors.has(visitorKey(row.shopId, row.visitorId)) &&
      [row.text, row.attachments].some((text) => person.isNamedIn(text));
    const lines = await this.#all(this.#sql.lines, ['visitor', 'seq'], shopId, isMention);
    return lines.map((row) => ({ shopId: row.shopId, visitorId: row.visitorId, seq: row.seq }));
  }

  /** The rows of a query that are sought, of this shop or of all, in the order of a key. */
  async #all<Row extends OfShop>(
    query: string,
    key: readonly (keyof Row & string)[],
    shopId: ShopId | undefined,
    isSought: (row: Row) => boolean,
  ): Promise<readonly Row[]> {
    const found: Row[] = [];
    for await (const page of this.#pages<Row>(query, key)) {
      found.push(...page.filter(isOf(shopId)).filter(isSought));
    }
    return found;
  }

  #rows<Row>(query: string, ...values: Param[]): Promise<readonly Row[]> {
    return this.#run(() => rowsOf<Row>(query, ...values));
  }

  /**
   * Reads the rows of a query in the order of a key, a page at a time.
   * @param keys a query of the keys alone, for one that joins tables: PostgreSQL would begin each page of a join with
   * the first row of all tables but the first
   */
  async *#pages<Row extends object>(
    query: string,
    key: readonly (keyof Row & string)[],
    keys?: string,
  ): AsyncGenerator<readonly Row[]> {
    const columns = key.map((column) => `"${column}"`).join(', ');
    const places = key.map((_, index) => `$${index + 1}`).join(', ');
    for (let after: Param[] = []; ;) {
      const condition = after.length === 0 ? '' : `WHERE (${columns}) > (${places})`;
      const within = (all: string) =>
        `(${all}) AS page ${condition} ORDER BY ${columns} LIMIT ${ROWS_PER_PAGE}`;
      const page = await this.#rows<Row>(
        keys === undefined
          ? `SELECT * FROM ${within(query)}`
          : `SELECT * FROM (${query}) AS page
             WHERE (${columns}) IN (SELECT ${columns} FROM ${within(keys)}) ORDER BY ${columns}`,
        ...after,
      );
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      if (page.length < ROWS_PER_PAGE) return;
      // The columns of a key are numbers and texts.
      after = key.map((each) => last[each] as Param);
    }
  }
}

/** @param visitors the keys of the person's visitors */
function isTheirs(row: SearchedRow, person: Person, visitors: ReadonlySet<string>): boolean {
  // Written by JSON.stringify of an EntryMeta.
  const meta = JSON.parse(row.meta) as EntryMeta;
  const visitor = visitorKey(row.shopId, String(meta['visitorId']));
  return (row.channel === 'web_chat' && visitors.has(visitor)) || person.wrote({ ...row, meta });
}

/** In what lists and the search show of it, its lane or what is kept of its envelope. Its raw form is not read. */
function isMentionedIn(
  { from, to, subject, more, lane, meta }: SearchedRow,
  person: Person,
): boolean {
  const texts = [from, to, subject, more, lane];
  return (
    texts.some((text) => text !== null && person.isNamedIn(text)) || redacted(meta, person) !== meta
  );
}

function queries({ summarizedRows, tables }: Dialect) {
  const { entries, raws, moves, visitors, uploads, conversations, optOuts, personNames } = tables;
  return {
    count: `SELECT count(*) AS n FROM ${entries}`,
    names: `SELECT shop, scope, ${NAME_COLUMNS} FROM ${personNames}`,
    entries: `SELECT seq, id, kind, shop AS "shopId", channel, lane, meta, state, reason, "from", "to", subject, more,
      (SELECT reason FROM ${moves} AS move WHERE move.seq = entry.seq) AS move_reason,
      CASE kind WHEN 'event' THEN (SELECT bytes FROM ${raws} AS raw WHERE raw.seq = entry.seq) END AS event
      FROM ${summarizedRows} AS entry`,
    seqs: `SELECT seq FROM ${entries}`,
    steps: 'SELECT seq, no, steps FROM timeline WHERE seq BETWEEN $1 AND $2 ORDER BY seq, no',
    visitors: `SELECT no, shop AS "shopId", id, email, subject, name FROM ${visitors}`,
    // This visitor, and those that were merged into or from one of them, until none is left. Each half has the
    // shop, so that both databases look it up in its own index: anybody can open many chats as one person.
    merged: `WITH RECURSIVE their AS (
        SELECT no, shop, id, joined FROM ${visitors} WHERE no = $1
        UNION
        SELECT other.no, other.shop, other.id, other.joined FROM their JOIN ${visitors} AS other
          ON (other.shop = their.shop AND other.joined = their.id)
            OR (other.shop = their.shop AND other.id = their.joined)
      )
      SELECT no, id, shop AS "shopId",
        (SELECT count(*) FROM journal WHERE journal.visitor = their.no) AS lines FROM their`,
    uploads: `SELECT id, name, type, size, blob FROM ${uploads} WHERE shop = $1 AND visitor = $2 ORDER BY at, id`,
    conversations: `SELECT shop AS "shopId", channel, lane FROM ${conversations}`,
    optOuts: `SELECT shop AS "shopId", 'sms' AS channel, lane FROM ${optOuts}`,
    lines: `SELECT visitor.shop AS "shopId", visitor.id AS "visitorId", journal.visitor, journal.seq, text, attachments
      FROM journal JOIN ${visitors} AS visitor ON visitor.no = journal.visitor`,
  };
}
