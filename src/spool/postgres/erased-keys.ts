import { sqlFunction } from './schema.ts';

/**
 * The hash that remains of an erased value; NULL without a key, that is, before the first erasure. The
 * same value has another hash as another kind. SHA-256 over a SHA-256 with the key in both: no further
 * text can be appended to a known hash.
 */
export const ERASED_HASH = sqlFunction(
  'erased_hash',
  `(kind text, value bytea) RETURNS uuid LANGUAGE sql STABLE AS $$
     SELECT left(encode(sha256(key || sha256(key || convert_to(kind, 'UTF8') || '\\x00'::bytea || value)),
       'hex'), 32)::uuid FROM erasure_key $$`,
);

/** The hash of an opt-out in SQL. Shops' ids have one length, so no two pairs are one text. */
export const optOutHash = (shop: string, lane: string): string =>
  `${ERASED_HASH.name}('opt-out', convert_to(${shop}::text || ${lane}::text, 'UTF8'))`;

/** The hash of a dedup key (`dedup`) or of an email's remote id (`remote`) in SQL, from its own hash. */
export const keyHash = (kind: 'dedup' | 'remote', hash: string): string =>
  `${ERASED_HASH.name}('${kind}', uuid_send(${hash}))`;

/**
 * Removes messages of erased people from a list for `accept`: they are duplicates. Emails whose remote id
 * an erased one had get the other one.
 */
export const WITHOUT_ERASED = sqlFunction(
  'without_erased',
  `(items json) RETURNS json LANGUAGE sql STABLE AS $$
     SELECT coalesce(json_agg(CASE WHEN is_taken
       THEN (item::jsonb || jsonb_build_object('remote_id', item->'remote_id_if_taken',
         'remote', item->'remote_if_taken'))::json
       ELSE item END ORDER BY place), '[]')
     FROM (
       SELECT item, place, item->>'remote_if_taken' IS NOT NULL AND EXISTS (
         SELECT FROM erased_key WHERE hash = ${keyHash('remote', "(item->>'remote')::uuid")}) AS is_taken
       FROM json_array_elements(items) WITH ORDINALITY AS each (item, place)
       WHERE NOT EXISTS (SELECT FROM erased_key
         WHERE hash = ${keyHash('dedup', "(item->>'dedup')::uuid")})
     ) AS new $$`,
);

export const ERASED_KEY_FUNCTIONS = [ERASED_HASH, WITHOUT_ERASED];
