import { sqlFunction } from './schema.ts';

/** Stores `erasureKeyRow`, unless the database has a key. */
export const ADD_ERASURE_KEY =
  'INSERT INTO erasure_key (key, inner_pad, outer_pad) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';

/** A row of `erasure_key`: the key, and the two blocks that HMAC makes of it (RFC 2104 §2). */
export function erasureKeyRow(key: Uint8Array): readonly [Uint8Array, Uint8Array, Uint8Array] {
  const padded = (byte: number) =>
    Uint8Array.from({ length: HMAC_BLOCK_BYTES }, (_, index) => (key[index] ?? 0) ^ byte);
  return [key, padded(0x36), padded(0x5c)];
}

/** Of SHA-256. */
const HMAC_BLOCK_BYTES = 64;

/**
 * The hash that remains of an erased value; NULL without a key, that is, before the first erasure. The
 * same value has another hash as another kind. It is the one of `ErasureKey.hash`, so that a store can be
 * moved with its hashes.
 */
export const ERASED_HASH = sqlFunction(
  'erased_hash',
  `(kind text, value bytea) RETURNS uuid LANGUAGE sql STABLE AS $$
     SELECT left(encode(sha256(outer_pad ||
       sha256(inner_pad || convert_to(kind, 'UTF8') || '\\x00'::bytea || value)), 'hex'), 32)::uuid
     FROM erasure_key $$`,
);

const ofShop = (kind: string, shop: string, text: string): string =>
  `${ERASED_HASH.name}('${kind}',
     convert_to(${shop}::text, 'UTF8') || '\\x00'::bytea || convert_to(${text}, 'UTF8'))`;

/** The hash of an opt-out in SQL. */
export const optOutHash = (shop: string, lane: string): string => ofShop('opt-out', shop, lane);

/** The hash of a dedup key in SQL, from its own hash. */
export const dedupKeyHash = (dedup: string): string =>
  `${ERASED_HASH.name}('dedup', uuid_send(${dedup}))`;

/** The hash of an email's remote id in SQL. */
export const remoteIdHash = (shop: string, remoteId: string): string =>
  ofShop('remote', shop, remoteId);

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
         SELECT FROM erased_key WHERE hash = ${remoteIdHash("(item->>'shop')", "(item->>'remote_id')")}) AS is_taken
       FROM json_array_elements(items) WITH ORDINALITY AS each (item, place)
       WHERE NOT EXISTS (SELECT FROM erased_key
         WHERE hash = ${dedupKeyHash("(item->>'dedup')::uuid")})
     ) AS new $$`,
);
