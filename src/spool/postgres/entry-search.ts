import { CHANNELS } from '../../domain/channel.ts';
import type { EntryId } from '../../domain/ids.ts';
import { codesBeginning, sentence } from '../../domain/reasons.ts';
import type { EntryIndex, EntrySearch } from '../entry-index.ts';
import { foundPage, readReason, summariesById, type SummaryRow } from '../entry-row.ts';
import { searchedTerms, type TermQuery } from '../search-terms.ts';
import { SPAN_BITS, spanPrefixOf } from './cards.ts';
import type { Database, Param } from './connection.ts';
import { ENTRY_COLUMNS, ENTRY_TABLES, type EntryRow, isUuid, STATE, storable } from './rows.ts';
import { BY_INDEX, LOOPS_BY_INDEX, sqlFunction } from './schema.ts';

/** With more entries that may match, one span after the other is searched. */
const FEW = 5000;
/** With more in a span, those of the text or the shop may be fewer. */
const FEW_IN_A_SPAN = 200;
/** Matches per statement. */
const PAGE = 20_000;

/**
 * Entries of these states or with these reasons from `low` to below `high`, without an order. May contain
 * others: the state of a lane's head is compared later.
 */
const OPEN_ENTRIES = sqlFunction(
  'open_entries',
  `(states text[], codes text[], low bigint, high bigint, most int)
   RETURNS SETOF bigint LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
   BEGIN
     IF codes IS NULL THEN
       IF 'queued' = ANY (states) THEN
         RETURN QUERY SELECT seq FROM job WHERE seq >= low AND seq < high LIMIT most;
       ELSIF 'delivering' = ANY (states) THEN
         RETURN QUERY SELECT head FROM lane WHERE owned AND head >= low AND head < high LIMIT most;
       END IF;
       RETURN QUERY SELECT seq FROM outcome WHERE state = ANY (states) AND state <> 'delivered'
         AND seq >= low AND seq < high LIMIT most;
     ELSE
       RETURN QUERY SELECT found.seq FROM unnest(codes) AS code CROSS JOIN LATERAL (
         SELECT seq FROM outcome WHERE reason IS NOT NULL AND reason::jsonb ->> 'code' = code
           AND seq >= low AND seq < high LIMIT most) AS found;
       RETURN QUERY SELECT found.seq FROM unnest(codes) AS code CROSS JOIN LATERAL (
         SELECT seq FROM job WHERE reason IS NOT NULL AND reason::jsonb ->> 'code' = code
           AND seq >= low AND seq < high LIMIT most) AS found;
     END IF;
   END $$`,
);

/**
 * Finds entries below `high`, newest first. In each span it reads those that may match, by the index that
 * says most, and compares them with all filters. All of it sees the one snapshot of its caller.
 * @param query a tsquery in which each term begins with a double quote, for the prefix of the span
 */
const FIND = sqlFunction(
  'find_entries',
  `(in_shop uuid, in_channels text[], in_states text[], codes text[], since bigint, till bigint,
     query text, has_text boolean, high bigint, most int)
   RETURNS SETOF bigint LANGUAGE plpgsql STABLE ROWS 100
   ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     is_open boolean := codes IS NOT NULL OR coalesce('delivered' <> ALL (in_states), false);
     shops uuid[] := ARRAY[in_shop];
     spans bigint[] := ARRAY[NULL];
     each bigint;
     low bigint;
     top bigint;
     may_match bigint[];
     is_few boolean := false;
     has_terms boolean;  -- of those that may match, the terms match
     capped int := CASE WHEN in_states IS NULL AND codes IS NULL AND since IS NULL AND till IS NULL THEN most END;
     narrows boolean := has_text OR in_shop IS NOT NULL;  -- something else may say more than the state
     matches int;
     left_over int := most;
   BEGIN
     IF is_open THEN
       may_match := ARRAY(SELECT open FROM ${OPEN_ENTRIES.name}(in_states, codes, 0, high, ${FEW} + 1) AS open);
       is_few := cardinality(may_match) <= ${FEW};
     END IF;
     IF NOT is_few THEN
       spans := ARRAY(SELECT span FROM (
           SELECT span FROM card_span
           WHERE (since IS NULL OR newest >= since) AND (till IS NULL OR oldest < till)
           UNION SELECT seq >> ${SPAN_BITS} FROM dirty WHERE is_new) AS known
         WHERE span <= high >> ${SPAN_BITS} ORDER BY span DESC);
       IF in_shop IS NULL AND cardinality(in_channels) = 1 AND NOT has_text AND NOT is_open THEN
         shops := ARRAY(
           WITH RECURSIVE known AS (
             (SELECT shop FROM entry ORDER BY shop LIMIT 1)
             UNION ALL
             SELECT (SELECT shop FROM entry WHERE shop > known.shop ORDER BY shop LIMIT 1) FROM known
             WHERE known.shop IS NOT NULL)
           SELECT shop FROM known WHERE shop IS NOT NULL);
       END IF;
     END IF;

     FOREACH each IN ARRAY spans LOOP
       has_terms := NOT has_text;
       low := each << ${SPAN_BITS};
       top := least(high, (each + 1) << ${SPAN_BITS});
       IF is_open AND NOT is_few THEN
         may_match := ARRAY(SELECT open FROM ${OPEN_ENTRIES.name}(in_states, codes, low, top,
           CASE WHEN narrows THEN ${FEW_IN_A_SPAN} + 1 END) AS open);
       END IF;
       IF is_open AND (is_few OR NOT narrows OR cardinality(may_match) <= ${FEW_IN_A_SPAN}) THEN
         NULL;  -- These few are compared.
       ELSIF has_text THEN
         has_terms := true;
         -- "+ 0": by the index of the terms, not by that of seq.
         may_match := ARRAY(SELECT seq FROM card
           WHERE terms @@ replace(query, '"', ${spanPrefixOf('each')})::tsquery AND seq + 0 < top);
       ELSIF in_shop IS NULL AND cardinality(in_channels) > 1 THEN
         may_match := ARRAY(SELECT seq FROM entry WHERE seq >= low AND seq < top
           ORDER BY seq DESC LIMIT capped);
       ELSE
         may_match := ARRAY(SELECT found.seq FROM unnest(shops) AS of_shop CROSS JOIN unnest(in_channels) AS of_channel
           CROSS JOIN LATERAL (
             SELECT seq FROM entry WHERE shop = of_shop AND channel = of_channel AND seq >= low AND seq < top
             ORDER BY seq DESC LIMIT capped) AS found);
       END IF;
       CONTINUE WHEN cardinality(may_match) = 0;
       RETURN QUERY
         SELECT candidate.seq FROM (SELECT seq FROM unnest(may_match) AS seq ORDER BY seq DESC) AS candidate
         JOIN (${ENTRY_TABLES}) ON entry.seq = candidate.seq
         WHERE (in_shop IS NULL OR entry.shop = in_shop) AND entry.channel = ANY (in_channels)
           AND (in_states IS NULL OR ${STATE} = ANY (in_states))
           AND (since IS NULL OR entry.received_at >= since) AND (till IS NULL OR entry.received_at < till)
           AND (codes IS NULL OR coalesce(outcome.reason, job.reason)::jsonb ->> 'code' = ANY (codes))
           AND (has_terms OR EXISTS (SELECT FROM card WHERE card.seq = candidate.seq AND terms @@
             replace(query, '"', ${spanPrefixOf(`(candidate.seq >> ${SPAN_BITS})`)})::tsquery))
         ORDER BY candidate.seq DESC LIMIT left_over;
       GET DIAGNOSTICS matches = ROW_COUNT;
       left_over := left_over - matches;
       EXIT WHEN left_over = 0;
     END LOOP;
   END $$`,
);

type Filters = Omit<EntrySearch, 'before' | 'limit'>;
type FoundRow = EntryRow & SummaryRow;

const SUMMARY_COLUMNS = `entry."from", entry."to", entry.subject`;
/** Above every seq. */
const HIGHEST = '4611686018427387904';

/** The reads of the index, without the cards that are not filled yet. */
export const entrySearches = (
  database: Database,
): Pick<EntryIndex, 'find' | 'count' | 'summaries' | 'neighbours'> => ({
  find: async ({ limit, before, ...filters }) => {
    const asked = conditionsOf(filters);
    if (asked === undefined) return { found: [] };
    let high = before === undefined ? HIGHEST : await seqBefore(database, before);
    const rows: FoundRow[] = [];
    for (let most = limit + 1, isEnd = high === undefined; !isEnd && rows.length <= limit;) {
      const page = await database.query<FoundRow>(
        `SELECT ${ENTRY_COLUMNS}, ${SUMMARY_COLUMNS}
         FROM ${FIND.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS found
         JOIN (${ENTRY_TABLES}) ON entry.seq = found ORDER BY found DESC`,
        [...asked.params, high ?? HIGHEST, most],
      );
      rows.push(...page.filter(asked.hasReason));
      isEnd = page.length < most;
      high = String(page.at(-1)?.seq);
      most = Math.min(PAGE, 4 * most);
    }
    return foundPage(rows, limit);
  },
  count: async (filters, most) => {
    const asked = conditionsOf(filters);
    if (asked === undefined) return 0;
    let counted = 0;
    let high = HIGHEST;
    for (let isEnd = false; !isEnd && counted < most;) {
      const page = await database.query<{ seq: number; reason: string | null }>(
        `SELECT found AS seq, ${asked.needsReason ? 'coalesce(outcome.reason, job.reason)' : 'NULL'} AS reason
         FROM ${FIND.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS found
         LEFT JOIN outcome ON outcome.seq = found LEFT JOIN job ON job.seq = found ORDER BY found DESC`,
        [...asked.params, high, PAGE],
      );
      counted += page.filter(asked.hasReason).length;
      isEnd = page.length < PAGE;
      high = String(page.at(-1)?.seq);
    }
    return Math.min(counted, most);
  },
  summaries: async (ids) => {
    const rows = await database.query<SummaryRow & { id: EntryId }>(
      `SELECT id, ${SUMMARY_COLUMNS} FROM entry WHERE id = ANY ($1::uuid[])`,
      [ids.filter(isUuid)],
    );
    return summariesById(rows);
  },
  neighbours: async (id) => {
    if (!isUuid(id)) return {};
    const [row] = await database.query<{ older: EntryId | null; newer: EntryId | null }>(
      `SELECT (SELECT id FROM entry WHERE seq < own.seq ORDER BY seq DESC LIMIT 1) AS older,
         (SELECT id FROM entry WHERE seq > own.seq ORDER BY seq LIMIT 1) AS newer
       FROM entry AS own WHERE id = $1`,
      [id],
    );
    const { older = null, newer = null } = row ?? {};
    return { ...(older !== null && { older }), ...(newer !== null && { newer }) };
  },
});

/** If the entry was deleted, the position where it was: ids grow with time. */
async function seqBefore(database: Database, id: EntryId): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const seq = await database.value<number>(
    `(SELECT seq FROM entry WHERE id = $1) UNION ALL
     (SELECT seq + 1 FROM entry WHERE id < $1 ORDER BY id DESC LIMIT 1) LIMIT 1`,
    [id],
  );
  return seq === undefined ? undefined : String(seq);
}

interface Conditions {
  /** The first parameters of `FIND`. */
  readonly params: readonly Param[];
  /** `hasReason` needs the reason; it is true of all others. */
  readonly needsReason: boolean;
  /** The beginning of a sentence that goes beyond the words of its code is compared here. */
  readonly hasReason: (row: { readonly reason: string | null }) => boolean;
}

/** Undefined: nothing matches. */
function conditionsOf(filters: Filters): Conditions | undefined {
  const { shopId, channel, states, from, to, text = '', reason = '' } = filters;
  const terms = searchedTerms(filters);
  if (states?.length === 0 || terms === null) return undefined;
  const { always, perhaps } = codesBeginning(reason);
  const isCertain: ReadonlySet<string> = new Set(always);
  return {
    params: [
      ...[shopId ?? null, channel === undefined ? CHANNELS : [channel], states ?? null],
      ...[reason === '' ? null : [...always, ...perhaps], from ?? null, to ?? null],
      ...[terms === undefined ? null : storable(tsqueryOf(terms)), text.trim() !== ''],
    ],
    needsReason: reason !== '' && perhaps.length > 0,
    hasReason: ({ reason: stored }) => {
      if (reason === '' || perhaps.length === 0) return true;
      if (stored === null) return false;
      const found = readReason(stored);
      return isCertain.has(found.code) || sentence(found).startsWith(reason);
    },
  };
}

/** A query as a tsquery. A double quote stands for the prefix of the span; no term contains one. */
function tsqueryOf(query: TermQuery): string {
  if ('begins' in query) return `${lexemeOf(query.begins)}:*`;
  if ('is' in query) return lexemeOf(query.is);
  const [clauses, operator] = 'all' in query ? [query.all, ' & '] : [query.any, ' | '];
  return `(${clauses.map(tsqueryOf).join(operator)})`;
}

const lexemeOf = (term: string): string => `'"${term.replace(/['\\]/g, '$&$&')}'`;
