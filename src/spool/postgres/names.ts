import type { ShopId } from '../../domain/ids.ts';
import {
  namesIn,
  personLane,
  type PersonName,
  type Sighting,
  sightingOf,
} from '../../domain/person-names.ts';
import type { NewEntry } from '../entry.ts';
import { NAME_COLUMNS } from '../entry-row.ts';
import { dedupHash, rateHash, uuidOf } from '../hashes.ts';
import type { Query } from './connection.ts';
import { dedupKeyHash } from './erased-keys.ts';
import { jsonOf } from './rows.ts';
import { sqlFunction } from './schema.ts';

/** All lanes of the person of a lane, as `NameTable.lanesOf` of SQLite returns them. */
export const LANES_OF = sqlFunction(
  'lanes_of',
  `(own uuid, given text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
   DECLARE
     place text := split_part(given, '/', 1) || '/whatsapp';
     begin_with text := place || '/' || split_part(given, '/', 3) || '/';
     whose text := split_part(given, '/', 4);
   BEGIN
     IF split_part(given, '/', 2) <> 'whatsapp' THEN RETURN ARRAY[given]; END IF;
     whose := coalesce((SELECT person FROM person_name
       WHERE shop = own AND scope = place AND name = '=' || whose), whose);
     RETURN ARRAY[begin_with || whose] || ARRAY(SELECT begin_with || substr(name, 2) FROM person_name
       WHERE shop = own AND scope = place AND person = whose AND name LIKE '=%' ORDER BY since);
   END $$`,
);

interface NameRow extends PersonName {
  readonly shop: ShopId;
  readonly scope: string;
}

const placeOf = (shop: ShopId, scope: string): string => `${shop} ${scope}`;

type Place = Pick<NameRow, 'shop' | 'scope'>;

/** The locks of the names of accounts, in the order in which they are taken. */
export function nameLocks(places: readonly Place[]): number[] {
  const keys = new Set(places.map(({ shop, scope }) => rateHash(shop, 'names', scope)));
  return [...keys].toSorted((a, b) => a - b);
}

/**
 * Locks the names of an account, and with them the lanes that may be joined, until the transaction ends:
 * gateways accept its texts one after the other.
 */
export async function lockNames(query: Query, places: readonly Place[]): Promise<void> {
  const keys = nameLocks(places).map(String);
  await query('SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key', [keys]);
}

/**
 * Stores what the messages say of their senders, but for those that are known, and returns the lane of
 * each that is new. The transaction that accepts them calls it.
 */
export async function lanesFor(
  query: Query,
  entries: readonly NewEntry[],
): Promise<ReadonlyMap<NewEntry, string>> {
  const named = entries.flatMap((entry) => {
    const { sender, shopId: shop } = entry;
    if (sender === undefined) return [];
    return [{ entry, sender, shop, scope: sender.scope, dedup: uuidOf(dedupHash(entry)) }];
  });
  await lockNames(query, named);
  const known = await query<{ dedup: string }>(
    `SELECT dedup FROM unnest($1::uuid[]) AS asked (dedup)
     WHERE EXISTS (SELECT FROM entry WHERE entry.dedup = asked.dedup)
       OR EXISTS (SELECT FROM erased_key)
         AND EXISTS (SELECT FROM erased_key WHERE hash = ${dedupKeyHash('asked.dedup')})`,
    [named.map(({ dedup }) => dedup)],
  );
  const isKnown = new Set(known.map(({ dedup }) => dedup));
  const fresh = named.filter(({ dedup }) => !isKnown.has(dedup));
  const asked = fresh.flatMap(({ sender, shop, scope }) =>
    namesIn(sender).map((name) => ({ shop, scope, name })),
  );
  const rows = await query<NameRow>(
    `WITH asked AS (SELECT * FROM json_to_recordset($1) AS asked (shop uuid, scope text, name text))
     SELECT shop, scope, ${NAME_COLUMNS} FROM person_name
     WHERE (shop, scope, person) IN (
       SELECT shop, scope, person FROM person_name JOIN asked USING (shop, scope, name)
       UNION SELECT shop, scope, name FROM asked)`,
    [jsonOf(asked)],
  );
  const places = new Map<string, KnownNames>();
  for (const { shop, scope } of asked) places.set(placeOf(shop, scope), new KnownNames());
  for (const { shop, scope, ...row } of rows) places.get(placeOf(shop, scope))?.put(row);
  const lanes = new Map<NewEntry, string>();
  const changes = new Map<string, NameRow>();
  for (const { entry, sender, shop, scope, dedup } of fresh) {
    // Of equal keys in one batch the first is stored.
    if (isKnown.has(dedup)) continue;
    isKnown.add(dedup);
    const names = places.get(placeOf(shop, scope)) ?? new KnownNames();
    const { person, changed } = sightingOf(sender, names.of(sender), entry.receivedAt);
    for (const row of changed) {
      names.put(row);
      changes.set(`${placeOf(shop, scope)} ${row.name}`, { shop, scope, ...row });
    }
    lanes.set(entry, personLane(sender, person));
  }
  await query(
    `INSERT INTO person_name (shop, scope, name, person, since, seen_at, beside, left_at, former)
     SELECT shop, scope, name, person, since, "seenAt", beside, "leftAt", former
     FROM json_to_recordset($1) AS row (shop uuid, scope text, name text, person text, since bigint,
       "seenAt" bigint, beside text, "leftAt" bigint, former text)
     ON CONFLICT (shop, scope, name) DO UPDATE SET person = EXCLUDED.person, since = EXCLUDED.since,
       seen_at = EXCLUDED.seen_at, beside = EXCLUDED.beside, left_at = EXCLUDED.left_at,
       former = EXCLUDED.former`,
    [jsonOf([...changes.values()])],
  );
  return lanes;
}

/** The rows of one account that a batch is about, as its messages change them. */
class KnownNames {
  readonly #byName = new Map<string, PersonName>();
  readonly #byPerson = new Map<string, Map<string, PersonName>>();

  put(row: PersonName): void {
    const { name, person } = row;
    this.#byPerson.get(this.#byName.get(name)?.person ?? '')?.delete(name);
    this.#byName.set(name, row);
    const theirs = this.#byPerson.get(person) ?? new Map<string, PersonName>();
    this.#byPerson.set(person, theirs.set(name, row));
  }

  /** What `sightingOf` needs for one message: of a thousand people, those whom it may name. */
  of(sighting: Sighting): PersonName[] {
    const names = namesIn(sighting);
    const people = new Set(names.flatMap((name) => [name, this.#byName.get(name)?.person ?? name]));
    return [...people].flatMap((person) => [...(this.#byPerson.get(person)?.values() ?? [])]);
  }
}
