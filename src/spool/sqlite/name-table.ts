import type { ShopId } from '../../domain/ids.ts';
import {
  joinedLanes,
  joinedName,
  namesIn,
  personInLane,
  personLane,
  type PersonName,
  type Sighting,
  sightingOf,
} from '../../domain/person-names.ts';
import { NAME_COLUMNS } from '../entry-row.ts';
import type { Db } from './database.ts';

interface Person {
  readonly shop: ShopId;
  readonly scope: string;
  readonly person: string;
}

/** The names of people on WhatsApp (`domain/person-names.ts`). */
export class NameTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepare(db);
  }

  /** The lane of a message, and stores what it says of its sender. */
  laneFor(shop: ShopId, sender: Sighting, now: number): string {
    const { scope } = sender;
    const names = JSON.stringify(namesIn(sender));
    const known = this.#sql.known.all({ shop, scope, names });
    const { person, changed } = sightingOf(sender, known, now);
    for (const row of changed) this.#sql.put.run({ shop, scope, ...row });
    return personLane(sender, person);
  }

  /** All lanes of the person of a lane: first the one that new messages go to. */
  lanesOf(shop: ShopId, lane: string): readonly [string, ...string[]] {
    const person = this.#personIn(shop, lane);
    if (person === undefined) return [lane];
    return [personLane(person, person.person), ...joinedLanes(person, this.#sql.of.all(person))];
  }

  #personIn(shop: ShopId, lane: string): (Person & { readonly ours: string }) | undefined {
    const parts = personInLane(lane);
    if (parts === undefined) return undefined;
    const name = joinedName(parts.person);
    const into = this.#sql.get.get({ shop, scope: parts.scope, name });
    return { shop, ...parts, ...(into && { person: into.person }) };
  }
}

function prepare(db: Db) {
  const own = `shop = @shop AND scope = @scope`;
  const asked = `SELECT value FROM json_each(@names)`;
  return {
    known: db.prepare<[{ shop: string; scope: string; names: string }], PersonName>(
      `SELECT ${NAME_COLUMNS} FROM person_names WHERE ${own} AND person IN (
         SELECT person FROM person_names WHERE ${own} AND name IN (${asked}) UNION ALL ${asked})`,
    ),
    of: db.prepare<[Person], PersonName>(
      `SELECT ${NAME_COLUMNS} FROM person_names WHERE ${own} AND person = @person ORDER BY name`,
    ),
    get: db.prepare<[{ shop: string; scope: string; name: string }], { person: string }>(
      `SELECT person FROM person_names WHERE ${own} AND name = @name`,
    ),
    put: db.prepare<[object]>(
      `INSERT OR REPLACE INTO person_names
         (shop, scope, name, person, since, seen_at, beside, left_at, former)
       VALUES (@shop, @scope, @name, @person, @since, @seenAt, @beside, @leftAt, @former)`,
    ),
  };
}
