import type { EntryId } from '../../../src/domain/ids.ts';
import { CLAIM, SETTLE } from '../../../src/spool/postgres/delivery-functions.ts';
import { dedupKeyHash } from '../../../src/spool/postgres/erased-keys.ts';
import { NEVER, NOW } from '../../../src/spool/postgres/schema.ts';
import { SHOP } from '../entries.ts';
import { type Answer, LEASE } from './calls.ts';

/** What decision 0032 says of the rows. */
const WRONG_ROWS = `
  WITH first AS (SELECT DISTINCT ON (lane) * FROM job ORDER BY lane, seq)
  SELECT 'a lane does not say what its first job does' AS what
    FROM lane LEFT JOIN first ON first.lane = lane.key
    WHERE NOT owned AND ((head, lane.waits, lane.failures) IS DISTINCT FROM (
        first.seq, coalesce(first.waits, 0), coalesce(first.failures, 0))
      OR due_at < coalesce(first.next_at, ${NEVER})
      OR due_at > greatest(coalesce(first.next_at, ${NEVER}), ${NOW.name}()))
  UNION ALL SELECT 'a lane is owned without its job' FROM lane
    WHERE owned AND NOT EXISTS (SELECT FROM job WHERE job.seq = lane.head AND job.lane = lane.key)
  UNION ALL SELECT 'a job is not above the lowest seq of its lane' FROM job JOIN lane ON lane.key = job.lane
    WHERE job.seq <= after
  UNION ALL SELECT 'a job has no lane' FROM job
    WHERE NOT EXISTS (SELECT FROM lane WHERE lane.key = job.lane)
  UNION ALL SELECT 'a job is in the lane of another' FROM job JOIN entry USING (seq)
    WHERE job.lane NOT IN (lane_key, -seq)
  UNION ALL SELECT 'an entry has not one state' FROM entry
    WHERE (SELECT count(*) FROM job WHERE job.seq = entry.seq)
      + (SELECT count(*) FROM outcome WHERE outcome.seq = entry.seq) <> 1
  UNION ALL SELECT 'an entry has no raw form' FROM entry LEFT JOIN outcome USING (seq)
    WHERE coalesce(has_raw, true) <> EXISTS (SELECT FROM raw WHERE raw.seq = entry.seq)
  UNION ALL SELECT 'two emails have one id' FROM entry WHERE remote IS NOT NULL
    GROUP BY remote HAVING count(*) > 1
  UNION ALL SELECT 'an erased message is stored' FROM entry JOIN erased_key
    ON hash = ${dedupKeyHash('dedup')}
  UNION ALL ${['job', 'outcome', 'raw', 'remote', 'timeline', 'record', 'media', 'move']
    .map(
      (table) => `SELECT 'a row of ${table} has no entry' FROM ${table}
        WHERE NOT EXISTS (SELECT FROM entry WHERE entry.seq = ${table}.seq)`,
    )
    .join(' UNION ALL ')}`;

export interface End {
  /** What is wrong with the rows. */
  readonly wrong: readonly string[];
  /** Claimed entries whose lease was lost. */
  readonly lost: readonly EntryId[];
  /** In the order of their claims. */
  readonly delivered: readonly {
    readonly id: EntryId;
    readonly seq: number;
    readonly lane: number;
    readonly is_settled: boolean;
  }[];
  /** How many jobs are left. */
  readonly left: number;
  /** Entries that are stored or were erased. */
  readonly stored: readonly EntryId[];
}

/**
 * Looks at the rows, delivers what the given leases hold, then all that is queued or whose attempt did not
 * end: one round trip.
 */
export const END_FUNCTION = `
  CREATE FUNCTION interleaved_end(leases json) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    wrong json := (SELECT coalesce(json_agg(what), '[]') FROM (${WRONG_ROWS}) AS wrong);
    stored json := (SELECT json_agg(id) FROM (SELECT id FROM entry UNION SELECT entry FROM erased_key) AS known);
    items json;
    settled bigint[];
    lost json;
    delivered jsonb := '[]';
  BEGIN
    items := (SELECT coalesce(json_agg(json_build_object('number', generation, 'id', id,
      'generation', generation, 'state', 'delivered', 'counts', 1)), '[]')
      FROM json_to_recordset(leases) AS held (id uuid, generation bigint));
    settled := ARRAY(SELECT ${SETTLE.name}(items, ''));
    lost := (SELECT coalesce(json_agg(id), '[]') FROM json_to_recordset(leases) AS held (id uuid, generation bigint)
      WHERE generation <> ALL (settled));
    UPDATE job SET next_at = 0, waits = 0;
    UPDATE lane SET due_at = 0, waits = 0 WHERE head IS NOT NULL;
    FOR round IN 1..100 LOOP
      items := (SELECT json_agg(json_build_object('number', generation, 'id', id, 'generation', generation,
        'state', 'delivered', 'counts', 1)) FROM ${CLAIM.name}(
          '[{"number": 0, "shop": "${SHOP}", "limit": 100, "from": [{"name": "all", "waits": 0, "failed": true, "floor": 0}]}]',
          100, ${LEASE}, 0, 'end') WHERE request IS NOT NULL);
      EXIT WHEN items IS NULL;
      delivered := delivered || (SELECT jsonb_agg(jsonb_build_object('id', id, 'seq', job.seq,
        'lane', job.lane, 'generation', generation)) FROM json_to_recordset(items) AS item (id uuid, generation bigint)
        JOIN entry USING (id) JOIN job USING (seq));
      settled := settled || ARRAY(SELECT ${SETTLE.name}(items, '')::bigint);
    END LOOP;
    RETURN json_build_object('wrong', wrong, 'lost', lost, 'stored', coalesce(stored, '[]'),
      'delivered', (SELECT coalesce(jsonb_agg(each || jsonb_build_object('is_settled',
        (each->>'generation')::bigint = ANY (settled)) ORDER BY place), '[]')
        FROM jsonb_array_elements(delivered) WITH ORDINALITY AS all_of (each, place)),
      'left', (SELECT count(*) FROM job));
  END $$`;

/** What contradicts what after a run, in which `answers` were given. */
export function violationsOf(
  { wrong, lost, delivered, left, stored }: End,
  answers: readonly Answer[],
  isSwept: boolean,
  nameOf: (id: EntryId) => string,
): readonly string[] {
  const say = (ids: readonly EntryId[], what: string) => ids.map((id) => `${nameOf(id)} ${what}`);
  const claimed = answers.flatMap((answer) => answer.claimed ?? []).map(({ lease }) => lease.id);
  const erased = answers.flatMap((answer) => answer.erased ?? []);
  const over = answers.flatMap((answer) => answer.over ?? []);
  const drained = delivered.map(({ id }) => id);
  return [
    ...wrong,
    ...answers.flatMap(({ repaired = 0 }) => (repaired > 0 ? ['a lane had to be repaired'] : [])),
    ...(left > 0 ? ['a job is never claimed'] : []),
    ...say(twice(claimed), 'was claimed twice at once'),
    ...say(
      lost.filter((id) => !erased.includes(id)),
      'lost its lease',
    ),
    // An outcome may be written again.
    ...say(twice([...new Set(over), ...claimed, ...drained]), 'was claimed after it was over'),
    ...say(
      drained.filter((id) => erased.includes(id)),
      'was claimed after it was erased',
    ),
    ...say(outOfOrder(delivered), 'is out of order'),
    ...say(
      delivered.flatMap(({ id, is_settled }) => (is_settled ? [] : id)),
      'is not settled',
    ),
    ...wrongAnswers(answers, {
      isStored: (id) => isSwept || stored.includes(id),
      isClaimed: (id) => claimed.includes(id) || drained.includes(id),
    }),
  ];
}

function outOfOrder(delivered: End['delivered']): readonly EntryId[] {
  const last = new Map<number, number>();
  return delivered.flatMap(({ id, seq, lane }) => {
    const isLate = (last.get(lane) ?? 0) > seq;
    last.set(lane, seq);
    return isLate ? [id] : [];
  });
}

interface Known {
  readonly isStored: (id: EntryId) => boolean;
  readonly isClaimed: (id: EntryId) => boolean;
}

/** Each accepted entry is stored, and delivered once; equal ones are one entry. */
function wrongAnswers(
  answers: readonly Answer[],
  { isStored, isClaimed }: Known,
): readonly string[] {
  const ids = new Map<string, EntryId>();
  return answers
    .flatMap((answer) => answer.accepted ?? [])
    .flatMap(({ entry, id }) => {
      const first = ids.get(entry.dedupKey) ?? id;
      ids.set(entry.dedupKey, id);
      return [
        ...(isStored(id) ? [] : ['an accepted entry is not stored']),
        ...(id !== entry.id || isClaimed(id) ? [] : ['an accepted entry is never claimed']),
        ...(first === id ? [] : ['equal entries are stored twice']),
      ];
    });
}

function twice<T>(items: readonly T[]): readonly T[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}
