import type { BlobName, ShopId, VisitorId } from '../../domain/ids.ts';
import type { Channel } from '../../domain/channel.ts';
import { BlobMissing, type BlobStore } from '../blobs.ts';
import { recordText, type StoredRecord } from '../delivery-record.ts';
import { NAME_COLUMNS } from '../entry-row.ts';
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
  TracedVisitor,
} from '../erasure.ts';
import {
  isTheirs,
  mentionedIn,
  notesOf,
  type SearchedEntry,
  theirLanes,
  toTraced,
  visitorKey,
} from '../erasure-search.ts';
import type { Database, Param } from './connection.ts';
import { ENTRY_TABLES, STATE } from './rows.ts';

const ROWS_PER_PAGE = 500;
const LANES_PER_PAGE = 2000;
/** Raw forms of up to 64 KiB and records of up to 1 MiB each are in memory at a time. */
const BODIES_PER_PAGE = 20;

interface Row extends SearchedEntry {
  readonly has_raw: boolean;
  readonly move_reason: string | null;
  readonly parts: readonly { readonly no: number; readonly steps: string }[] | null;
}

interface Body {
  readonly seq: number;
  readonly bytes: Uint8Array | null;
  readonly json: string | null;
  readonly deflated: Uint8Array | null;
}

/** What is collected while the pages are read. */
interface Collected {
  readonly entries: TracedEntry[];
  readonly mentions: Mention[];
  readonly notes: Note[];
}

/** Searches the whole store for a person, in pages by key. Changes nothing. */
export class TraceFinder {
  readonly #database: Database;
  readonly #blobs: BlobStore;

  constructor(database: Database, blobs: BlobStore) {
    this.#database = database;
    this.#blobs = blobs;
  }

  async count(): Promise<number> {
    const [row] = await this.#database.query<{ n: number }>('SELECT count(*) AS n FROM entry');
    return row?.n ?? 0;
  }

  async *names(): AsyncGenerator<StoredName> {
    for await (const page of this.#pages<StoredName>(
      NAMES,
      ['shop', 'scope', 'name'],
      LANES_PER_PAGE,
    )) {
      yield* page;
    }
  }

  async find(options: FindOptions): Promise<Found> {
    const { person, shopId, others, onProgress } = options;
    const visitors = await this.#visitors(person, shopId);
    const keys = new Set(visitors.map((visitor) => visitorKey(visitor.shopId, visitor.id)));
    const found: Collected = { entries: [], mentions: [], notes: [] };
    let seen = 0;
    for await (const page of this.#pages<Row>(PAGE, ['seq'], ROWS_PER_PAGE)) {
      const wanted = page.filter(({ shop }) => shopId === undefined || shop === shopId);
      for (let at = 0; at < wanted.length; at += BODIES_PER_PAGE) {
        await this.#search(wanted.slice(at, at + BODIES_PER_PAGE), options, keys, found);
      }
      seen += page.length;
      onProgress?.(seen);
    }
    const { entries, mentions, notes } = found;
    return {
      traces: {
        ...{ entries, visitors, notes },
        conversations: await this.#lanes(CONVERSATIONS, ['shop', 'channel', 'lane'], options, keys),
        optOuts: await this.#lanes(OPT_OUTS, ['shop', 'lane'], options, keys),
      },
      mentions,
      lines: others ? await this.#lineMentions(options, keys) : [],
    };
  }

  async #search(
    rows: readonly Row[],
    { person, others }: FindOptions,
    keys: ReadonlySet<string>,
    found: Collected,
  ): Promise<void> {
    // Only some entries say in their raw form alone whose they are.
    const asking: Row[] = [];
    for (const row of rows) isTheirs(row, person, keys, () => void asking.push(row));
    const bodies = await this.#bodies(others ? rows : asking);
    for (const row of rows) {
      const isRead = others || asking.includes(row);
      const raw = isRead ? await this.#raw(row, bodies.get(row.seq)) : undefined;
      if (isTheirs(row, person, keys, () => raw)) {
        found.entries.push(toTraced(row));
        continue;
      }
      const reasons = [row.reason, row.move_reason];
      found.notes.push(...notesOf(row.seq, { reasons, parts: row.parts ?? [] }, person));
      if (!others) continue;
      const where = mentionedIn(row, person, raw, () => textOf(bodies.get(row.seq)));
      if (where.length > 0) {
        found.mentions.push({ id: row.id, shopId: row.shop, channel: row.channel, where });
      }
    }
  }

  async #bodies(rows: readonly Row[]): Promise<ReadonlyMap<number, Body>> {
    if (rows.length === 0) return new Map();
    const bodies = await this.#database.query<Body>(
      `SELECT seq, bytes, json, deflated FROM unnest($1::bigint[]) AS seq
       LEFT JOIN raw USING (seq) LEFT JOIN record USING (seq)`,
      [rows.map(({ seq }) => String(seq))],
    );
    return new Map(bodies.map((body) => [body.seq, body]));
  }

  async #raw({ blob, has_raw: hasRaw }: Row, body: Body | undefined) {
    if (!hasRaw) return undefined;
    return blob === null ? (body?.bytes ?? undefined) : this.#blob(blob);
  }

  async #blob(blob: BlobName): Promise<Uint8Array | undefined> {
    const chunks: Uint8Array[] = [];
    try {
      // A blob's stream yields bytes.
      for await (const chunk of this.#blobs.read(blob)) chunks.push(chunk as Uint8Array);
    } catch (error) {
      // Swept since the row was read.
      if (error instanceof BlobMissing) return undefined;
      throw error;
    }
    return Buffer.concat(chunks);
  }

  /** A person's visitors: by id, subject or address, and those that were merged with one. */
  async #visitors(person: Person, shopId: ShopId | undefined): Promise<TracedVisitor[]> {
    const theirs: number[] = [];
    for await (const page of this.#pages<VisitorRow>(VISITORS, ['no'], LANES_PER_PAGE)) {
      for (const { no, shop, id, email, subject, name } of page) {
        if (shopId !== undefined && shop !== shopId) continue;
        const names = [id, email, subject, name];
        if (names.some((each) => each !== null && each !== '' && person.is(each))) theirs.push(no);
      }
    }
    return this.#database.query<TracedVisitor>(MERGED, [theirs.map(String)]);
  }

  async #lanes(
    table: string,
    key: readonly (keyof LaneRow)[],
    { person, shopId }: FindOptions,
    keys: ReadonlySet<string>,
  ): Promise<TracedLane[]> {
    const found: TracedLane[] = [];
    for await (const page of this.#pages<LaneRow>(table, key, LANES_PER_PAGE)) {
      found.push(...theirLanes(page, person, keys, shopId));
    }
    return found;
  }

  /** Searches other people's chat histories, which are kept longer than raw messages. */
  async #lineMentions(
    { person, shopId }: FindOptions,
    keys: ReadonlySet<string>,
  ): Promise<LineMention[]> {
    const found: LineMention[] = [];
    for await (const page of this.#pages<LineRow>(LINES, ['visitor', 'seq'], ROWS_PER_PAGE)) {
      for (const { shop, id, seq, text, attachments } of page) {
        if (keys.has(visitorKey(shop, id)) || (shopId !== undefined && shop !== shopId)) continue;
        if (person.isNamedIn(text) || person.isNamedIn(attachments)) {
          found.push({ shopId: shop, visitorId: id, seq });
        }
      }
    }
    return found;
  }

  /** Reads the rows of a query in the order of a key, a page at a time. */
  async *#pages<Of extends object>(
    query: string,
    key: readonly (keyof Of & string)[],
    most: number,
  ): AsyncGenerator<readonly Of[]> {
    const columns = key.join(', ');
    const places = key.map((_, index) => `$${index + 1}`).join(', ');
    let after: readonly Param[] = [];
    for (;;) {
      const condition = after.length === 0 ? '' : `WHERE (${columns}) > (${places})`;
      const page = await this.#database.query<Of>(
        `SELECT * FROM (${query}) AS page ${condition} ORDER BY ${columns} LIMIT ${most}`,
        after,
      );
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      if (page.length < most) return;
      // The columns of a key are numbers and texts.
      after = key.map((each) => last[each] as Param);
    }
  }
}

function textOf(body: Body | undefined): string | undefined {
  const stored: StoredRecord | null | undefined = body?.json ?? body?.deflated;
  return stored === null || stored === undefined ? undefined : recordText(stored);
}

const PAGE = `
  SELECT entry.seq, entry.id, entry.kind, entry.shop, entry.channel, entry.lane, entry.meta, entry.blob,
    ${STATE} AS state, coalesce(outcome.has_raw, true) AS has_raw,
    coalesce(outcome.reason, job.reason) AS reason,
    (SELECT move.reason FROM move WHERE move.seq = entry.seq) AS move_reason,
    (SELECT json_agg(json_build_object('no', no, 'steps', steps)) FROM timeline
      WHERE timeline.seq = entry.seq) AS parts
  FROM ${ENTRY_TABLES}`;

interface VisitorRow {
  readonly no: number;
  readonly id: VisitorId;
  readonly shop: ShopId;
  readonly email: string | null;
  readonly subject: string | null;
  readonly name: string | null;
}

const VISITORS = 'SELECT no, id, shop, email, subject, name FROM visitor';

/** These visitors, and those that were merged into or from one of them, until none is left. */
const MERGED = `
  WITH RECURSIVE their AS (
    SELECT no, shop, id, joined FROM visitor WHERE no = ANY ($1::bigint[])
    UNION
    SELECT other.no, other.shop, other.id, other.joined FROM their JOIN visitor AS other
      ON other.shop = their.shop AND (other.joined = their.id OR other.id = their.joined)
  )
  SELECT no, id, shop AS "shopId",
    (SELECT count(*) FROM journal WHERE journal.visitor = their.no) AS lines,
    (SELECT coalesce(json_agg(json_build_object('id', upload.id, 'name', name, 'type', type, 'size', size,
      'blob', blob) ORDER BY at, upload.id), '[]') FROM upload
      WHERE upload.shop = their.shop AND upload.visitor = their.id) AS uploads
  FROM their ORDER BY no`;

interface LaneRow {
  readonly shop: ShopId;
  readonly channel: Channel;
  readonly lane: string;
}

const NAMES = `SELECT shop, scope, ${NAME_COLUMNS} FROM person_name`;
const CONVERSATIONS = 'SELECT shop, channel, lane FROM conversation';
const OPT_OUTS = `SELECT shop, 'sms' AS channel, lane FROM opt_out`;

interface LineRow {
  readonly visitor: number;
  readonly seq: number;
  readonly shop: ShopId;
  readonly id: VisitorId;
  readonly text: string;
  readonly attachments: string;
}

const LINES = `
  SELECT visitor.shop, visitor.id, journal.visitor, journal.seq, text, attachments
  FROM journal JOIN visitor ON visitor.no = journal.visitor`;
