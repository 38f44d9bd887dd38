import {
  joinedLanes,
  joinedName,
  type LanePerson,
  personInLane,
  personLane,
  type PersonName,
} from '../../domain/person-names.ts';
import { NAME_COLUMNS } from '../entry-row.ts';
import { laneHash } from '../hashes.ts';
import type { EntryLane } from '../spool.ts';
import { type Dialect, type Operation, rowsOf, statement } from './operation.ts';

/** The names of people on WhatsApp. `Conversations` documents the method. */
export const nameOperations = ({
  tables: { personNames, conversations },
  listed,
  earlierInLane,
}: Dialect) => {
  const own = 'shop = $1 AND scope = $2';
  const namesOf = `SELECT ${NAME_COLUMNS} FROM ${personNames} WHERE ${own} AND person = coalesce(
    (SELECT person FROM ${personNames} WHERE ${own} AND name = $3), $4) ORDER BY name`;
  const conversationsIn = `SELECT conversation_id AS id FROM ${conversations}
    WHERE shop = $1 AND channel = $2 AND lane IN ${listed('$3')}`;

  return {
    *personOf({ shopId, channel, lane, id }: EntryLane): Operation<LanePerson | undefined> {
      const parts = personInLane(lane);
      if (parts === undefined) return undefined;
      const { scope, person } = parts;
      const asked = [shopId, scope, joinedName(person), person];
      const names = yield* rowsOf<PersonName>(namesOf, ...asked);
      const [first] = names;
      if (first === undefined) return undefined;
      const joined = joinedLanes(parts, names);
      const into = personLane(parts, first.person);
      if (joined.length === 0) {
        return { lane: into, joined, isWaiting: false, names, conversations: [] };
      }
      const lanes = [into, ...joined];
      const others = lanes.filter((each) => each !== lane);
      const hashes = others.map((each) => laneHash({ shopId, channel, lane: each }));
      const [found = [], ...earlier] = yield [
        statement(conversationsIn, shopId, channel, lanes),
        ...hashes.map((hash) => statement(earlierInLane, hash, id ?? null, shopId)),
      ];
      return {
        ...{ lane: into, joined, names, isWaiting: earlier.some((rows) => rows.length > 0) },
        // The column of the statement.
        conversations: (found as readonly { readonly id: string }[]).map((row) => row.id),
      };
    },
  };
};
