import { entryTermsOf, type SearchedRow, TERMS_VERSION } from '../search-terms.ts';
import { StoreRefuses } from '../errors.ts';
import type { Database } from './connection.ts';
import { jsonOf } from './rows.ts';
import { LOOPS_BY_INDEX, NOW, sqlFunction } from './schema.ts';

/**
 * Cards with the same `seq >> SPAN_BITS` are one span. Each term begins with the number of its span, so
 * the index reads the cards of one span only: a search goes from the newest span to older ones and
 * stops when it has enough.
 */
export const SPAN_BITS = 14;

/** How the terms of a span begin, in SQL. */
export const spanPrefixOf = (span: string): string => `to_hex(${span}) || ':'`;

/** Entries per call, whose terms are made between two turns of the event loop. */
const PORTION = 250;
/** Another gateway may take over the work of one that has not answered for this long. */
const LEASE_MS = 5000;
/** Rows of `dirty` that are committed so much later than the ones after them wait for the next look at all. */
const LATE_ROWS = 10_000;
const LOOK_AT_ALL_EVERY_MS = 30_000;

/**
 * Makes cards in portions: writes the cards of the portion that the call before returned, and returns the
 * next one. One gateway at a time does it. Its portion has a `generation`, and nothing is written for
 * an earlier one, so a card that is older than another gateway's never replaces it. A change of an entry
 * after it was read has a row in `dirty` of its own. NULL: another gateway is at work.
 *
 * Gateways of two versions may run at once: those with older terms leave the work to the others, of
 * which the first one puts all entries in the queue.
 *
 * @param held the generation of the cards; NULL without any
 * @param done rows of `dirty` that the cards settle
 * @param min_age how long the rows of the next portion have waited at least
 * @param beyond rows of `dirty` up to this one are deleted already
 */
export const FILL = sqlFunction(
  'fill_cards',
  `(held bigint, cards json, done bigint[], most int, min_age bigint, beyond bigint, my_terms int)
   RETURNS json LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     now bigint := ${NOW.name}();
     own record;
     alive bigint[];
     numbers bigint[];
   BEGIN
     IF EXISTS (SELECT FROM filling WHERE terms_version > my_terms OR terms_version = my_terms
       AND held IS NULL AND NOT EXISTS (SELECT FROM dirty WHERE no > beyond AND at <= now - min_age)) THEN
       RETURN '{"entries":[],"numbers":[]}';
     END IF;
     IF NOT EXISTS (SELECT FROM filling) THEN
       INSERT INTO filling (terms_version) VALUES (my_terms) ON CONFLICT DO NOTHING;
     END IF;
     SELECT * INTO own FROM filling FOR UPDATE SKIP LOCKED;
     IF NOT FOUND OR own.generation IS DISTINCT FROM held AND own.until > now THEN RETURN NULL; END IF;

     IF own.generation = held THEN
       -- A sweep that deletes an entry deletes its card after it. Entries that it has locked come again.
       alive := ARRAY(SELECT seq FROM entry WHERE seq IN (
           SELECT seq FROM json_to_recordset(cards) AS card (seq bigint)) FOR KEY SHARE SKIP LOCKED);
       INSERT INTO card (seq, terms)
         SELECT seq, array_to_tsvector(ARRAY(SELECT json_array_elements_text(made.terms)))
         FROM json_to_recordset(cards) AS made (seq bigint, terms json) WHERE seq = ANY (alive)
         ON CONFLICT (seq) DO UPDATE SET terms = EXCLUDED.terms;
       INSERT INTO card_span AS known (span, oldest, newest)
         SELECT seq >> ${SPAN_BITS}, min(received_at), max(received_at) FROM entry
         WHERE seq = ANY (alive) GROUP BY 1
         ON CONFLICT (span) DO UPDATE SET oldest = least(known.oldest, EXCLUDED.oldest),
           newest = greatest(known.newest, EXCLUDED.newest)
         WHERE EXCLUDED.oldest < known.oldest OR EXCLUDED.newest > known.newest;
       DELETE FROM dirty WHERE no = ANY (done) AND (seq = ANY (alive)
         OR NOT EXISTS (SELECT FROM entry WHERE entry.seq = dirty.seq));
       -- Searches read what is not in the index's tree yet from end to end. Only its owner may ask for it.
       PERFORM gin_clean_pending_list(oid) FROM pg_class
         WHERE oid = 'card_terms'::regclass AND pg_has_role(relowner, 'USAGE');
     END IF;

     IF own.terms_version < my_terms THEN
       UPDATE filling SET terms_version = my_terms;
       INSERT INTO dirty (seq, is_new, at) SELECT seq, false, 0 FROM card ORDER BY seq;
     END IF;
     numbers := ARRAY(SELECT no FROM dirty WHERE no > beyond AND at <= now - min_age
       ORDER BY no LIMIT most);
     UPDATE filling SET generation = own.generation + 1,
       until = CASE WHEN cardinality(numbers) > 0 THEN now + ${LEASE_MS} ELSE 0 END;
     RETURN json_build_object('generation', own.generation + 1,
       'numbers', numbers,
       'entries', coalesce((
         SELECT json_agg(known) FROM (
           SELECT seq, id, shop, channel, remote_id, platform_message_id, conversation_id,
             coalesce("from", '') AS "from", coalesce("to", '') AS "to",
             coalesce(subject, '') AS subject, coalesce(more, '') AS more
           FROM (SELECT DISTINCT seq FROM dirty WHERE no = ANY (numbers)) AS wanted
           JOIN entry USING (seq) LEFT JOIN outcome USING (seq)) AS known), '[]'));
   END $$`,
);

interface Portion {
  readonly generation?: number | undefined;
  /** Rows of `dirty`; there may be more than one of an entry. */
  readonly numbers: readonly number[];
  readonly entries: readonly (SearchedRow & { readonly seq: number })[];
}

const NOTHING: Portion = { numbers: [], entries: [] };

/** `busy`: another gateway is at work. */
export type Filled = 'done' | 'more' | 'busy';

/**
 * Fills the cards of the search from the queue of changed entries. Intake and delivery only add to that
 * queue, so they do not wait for the index.
 */
export class CardFiller {
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();
  #portion = PORTION;
  /** Rows of `dirty` up to this one are deleted, though perhaps not vacuumed. */
  #beyond = 0;
  #looksAtAllFrom = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Fills until there is nothing left or the time is over. Calls run one after the other.
   * @param minAgeMs leaves changes that are younger
   */
  fill(withinMs: number, minAgeMs = 0): Promise<Filled> {
    const filled = this.#last.then(() => this.#fill(performance.now() + withinMs, minAgeMs));
    this.#last = filled.catch(() => undefined);
    return filled;
  }

  async #fill(until: number, minAgeMs: number): Promise<Filled> {
    let portion = await this.#next(NOTHING, this.#portion, minAgeMs);
    while (portion !== undefined && portion.numbers.length > 0) {
      const isLast = performance.now() >= until;
      portion = await this.#next(portion, isLast ? 0 : this.#portion, minAgeMs);
      if (isLast) return portion === undefined ? 'busy' : 'more';
    }
    return portion === undefined ? 'busy' : 'done';
  }

  /**
   * Writes the cards of a portion and reads the next. One entry whose card the database refuses must
   * not keep those after it from the index: it is read alone, and gets an empty card.
   */
  async #next(portion: Portion, most: number, minAgeMs: number): Promise<Portion | undefined> {
    try {
      const next = await this.#call(portion, most, minAgeMs);
      this.#portion = Math.min(PORTION, this.#portion * 2);
      return next;
    } catch (error) {
      if (!(error instanceof StoreRefuses) || portion.numbers.length === 0) throw error;
      const { generation, numbers, entries } = portion;
      this.#portion = 1;
      if (numbers.length > 1) {
        return this.#call({ ...NOTHING, generation }, Math.min(1, most), minAgeMs);
      }
      return this.#call({ generation, numbers, entries }, most, minAgeMs, () => []);
    }
  }

  async #call(
    { generation, numbers, entries }: Portion,
    most: number,
    minAgeMs: number,
    termsOf = entryTermsOf,
  ): Promise<Portion | undefined> {
    if (performance.now() > this.#looksAtAllFrom) {
      this.#beyond = 0;
      this.#looksAtAllFrom = performance.now() + LOOK_AT_ALL_EVERY_MS;
    }
    const cards = entries.map((entry) => {
      const span = Math.floor(entry.seq / 2 ** SPAN_BITS).toString(16);
      return { seq: entry.seq, terms: termsOf(entry).map((term) => `${span}:${term}`) };
    });
    const next = await this.#database.value<Portion | null>(
      `SELECT ${FILL.name}($1, $2, $3::bigint[], $4, $5, $6, $7)`,
      [
        ...[generation ?? null, jsonOf(cards), numbers.map(String)],
        ...[most, minAgeMs, this.#beyond, TERMS_VERSION],
      ],
    );
    const [first] = next?.numbers ?? [];
    if (first !== undefined) this.#beyond = Math.max(this.#beyond, first - LATE_ROWS);
    return next ?? undefined;
  }
}

/** The number of entries that are not found by a text yet. */
export async function cardBacklog(database: Database): Promise<number> {
  return (await database.value<number>('SELECT count(*) FROM dirty WHERE is_new')) ?? 0;
}
