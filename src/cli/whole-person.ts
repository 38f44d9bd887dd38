import type { ShopId } from '../domain/ids.ts';
import { isNumber, joinedName, personInLane } from '../domain/person-names.ts';
import type { Eraser, StoredName } from '../spool/erasure.ts';
import { type NamedPerson, readPerson } from './erase-person.ts';

const placeOf = ({ shop, scope }: Pick<StoredName, 'shop' | 'scope'>) => `${shop}/${scope}`;
const personOf = (row: StoredName) => `${placeOf(row)}/${row.person}`;

const isJoined = ({ name }: StoredName) => name.startsWith(joinedName(''));
/** The ends of lanes, with their places, that a row says are its person's. */
const keysOf = (row: StoredName) =>
  isJoined(row) ? [personOf(row), `${placeOf(row)}/${row.name.slice(1)}`] : [personOf(row)];

/**
 * The person with all names under which WhatsApp knows them, whichever was typed. A number that others had
 * before is theirs; what these wrote is not.
 * @param shopId the only shop that is searched
 */
export async function wholePerson(
  typed: NamedPerson,
  eraser: Pick<Eraser, 'names'>,
  shopId?: ShopId,
): Promise<NamedPerson> {
  const isOfShop = ({ shop }: StoredName) => shopId === undefined || shop === shopId;
  const people = new Set<string>();
  for await (const row of eraser.names()) {
    if (isOfShop(row) && typed.is(row.name)) people.add(personOf(row));
  }
  if (people.size === 0) return typed;
  const names: StoredName[] = [];
  const others = new Set<string>();
  for await (const row of eraser.names()) {
    if (people.has(personOf(row))) names.push(row);
    else for (const key of keysOf(row)) others.add(key);
  }
  const own = names.filter((row) => !isJoined(row));
  const keys = new Set(names.flatMap(keysOf));
  for (const row of own) if (isNumber(row.name)) keys.add(`${placeOf(row)}/#${row.name}`);
  const isOthers = (row: StoredName) =>
    row.former !== null && others.has(`${placeOf(row)}/${row.former}`);
  const partOf = ({ name }: StoredName) => readPerson(name, []);
  const parts = [typed, ...own.map(partOf)];

  /** Undefined: the lane says nothing. */
  const isLaneTheirs = (lane: string, shop: ShopId | undefined): boolean | undefined => {
    const at = personInLane(lane);
    if (at === undefined || shop === undefined) return undefined;
    const key = `${placeOf({ shop, scope: at.scope })}/${at.person}`;
    if (keys.has(key)) return true;
    return others.has(key) ? false : undefined;
  };
  // The platform finds contacts by number alone: one that another person had is that person's there.
  const onPlatform = own.filter((row) => !isOthers(row)).map(partOf);
  return {
    ...typed,
    names,
    is: (identity) => parts.some((part) => part.is(identity)),
    isOnPlatform: (identity) => onPlatform.some((part) => part.is(identity)),
    wrote: (entry) =>
      isLaneTheirs(entry.lane, entry.shopId) ?? parts.some((part) => part.wrote(entry)),
    hasSmsLane: (lane, shop) =>
      isLaneTheirs(lane, shop) ?? parts.some((part) => part.hasSmsLane(lane, shop)),
    isNamedIn: (text) => parts.some((part) => part.isNamedIn(text)),
    countedAs: [
      ...new Set([
        ...parts.flatMap(({ countedAs }) => countedAs),
        ...names.map((row) => row.person),
      ]),
    ],
  };
}
