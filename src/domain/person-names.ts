/**
 * The names of a person on WhatsApp: telephone numbers, and Meta's business-scoped user ids. Either
 * may be hidden, and either can change. What signed messages name together is stored for each shop
 * and account; `sightingOf` says which person a message is from, and what to store.
 *
 * - A number belongs to the user id that was last seen with it.
 * - A new user id on a known number is the same person only if the number was seen within 30 days and
 *   the person has not been seen under another name since. Otherwise it is another person: numbers
 *   are given to others. The same holds when a number that had no user id is named with a known one.
 * - Apart from that, only a provider's notice joins two user ids.
 */

/** What a message says of its sender. All of it is signed by the provider. */
export interface Sighting {
  /** Account and transport, as in the lane. */
  readonly scope: string;
  /** The shop's number or sender, as in the lane. */
  readonly ours: string;
  /** In the form that is used for both forms of a number. */
  readonly number?: string;
  readonly userId?: string;
  /** Of a notice: the person had this number, or this user id, until now. */
  readonly previousNumber?: string;
  readonly previousUserId?: string;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
}

/** A name as it is stored. The name `=<person>` stands for a person that was joined with another. */
export interface PersonName {
  readonly name: string;
  /** The end of the person's lanes. */
  readonly person: string;
  /** When the first message with it arrived; of a joined person, their first. */
  readonly since: number;
  /** When the latest message that it was named with was written. */
  readonly seenAt: number;
  /** Of a number: the user id that was last seen with it. */
  readonly beside: string | null;
  /** Of a number: when the person gave it up. */
  readonly leftAt: number | null;
  /** Of a number: the person that had it before. */
  readonly former: string | null;
}

/** What is known of the person of a lane. */
export interface LanePerson {
  /** Where new messages of the person go: the lane itself, unless it was joined with an older one. */
  readonly lane: string;
  /** The person's other lanes at this number of the shop, which get no new messages. */
  readonly joined: readonly string[];
  /** Whether earlier messages of the person, in their other lanes, are still to be delivered. */
  readonly isWaiting: boolean;
  readonly names: readonly PersonName[];
  /** Those of all these lanes, if there are several. */
  readonly conversations: readonly string[];
}

export interface Sighted {
  readonly person: string;
  /** New and changed rows. */
  readonly changed: readonly PersonName[];
  /** Persons that turned out to be `into`, which began before them. */
  readonly joined: readonly { readonly from: string; readonly into: string }[];
}

/** After that, a number may have been given to another person. */
const SAME_FOR_MS = 30 * 24 * 3_600_000;

/** Marks the row of a joined person: no number or user id begins so. */
const JOINED = '=';

/** The name under which a joined person is found. */
export const joinedName = (person: string): string => JOINED + person;

/** The lane of a person at one number of the shop. */
export const personLane = ({ scope, ours }: LaneParts, person: string): string =>
  `${scope}/${ours}/${person}`;

type LaneParts = Pick<Sighting, 'scope' | 'ours'>;

/** Reads `personLane`; undefined for lanes of other transports, whose senders have one name. */
export function personInLane(lane: string): (LaneParts & { readonly person: string }) | undefined {
  const [account = '', transport, ours, person] = lane.split('/');
  if (transport !== 'whatsapp' || ours === undefined || person === undefined) return undefined;
  return { scope: `${account}/${transport}`, ours, person };
}

/** The lanes of persons that were joined with the one who has these names, the oldest first. */
export function joinedLanes(place: LaneParts, names: readonly PersonName[]): string[] {
  return names
    .toSorted((a, b) => a.since - b.since)
    .flatMap(({ name }) => (name.startsWith(JOINED) ? name.slice(JOINED.length) : []))
    .map((person) => personLane(place, person));
}

/** The names by which `known` of `sightingOf` is looked up. */
export const namesIn = (sighting: Sighting): string[] => {
  const { number, userId, previousNumber, previousUserId } = sighting;
  return [number, userId, previousNumber, previousUserId].filter((name) => name !== undefined);
};

/**
 * @param known the rows of these names, and all rows of the persons that they belong to, or that are
 *   called like one of them
 * @param now when the message arrived
 */
export function sightingOf(sighting: Sighting, known: readonly PersonName[], now: number): Sighted {
  const { number, userId, previousNumber, previousUserId, at } = sighting;
  const people = new People(known);
  const ids = [userId, previousUserId].filter((id) => id !== undefined);
  let person: string | undefined;
  for (const id of ids) {
    const found = people.of(id)?.person;
    if (found === undefined) continue;
    person = person === undefined ? found : people.join(person, found);
  }

  // A number that was last seen with another user id may be another person's.
  const mayBeTheirs = ({ beside }: PersonName): boolean =>
    beside === null || ids.length === 0 || ids.includes(beside);
  const old = previousNumber === undefined ? undefined : people.of(previousNumber);
  // If it was seen since, it may be another person's by now.
  const isTheirs = old !== undefined && old.seenAt <= at;
  if (isTheirs) {
    const isSame = people.continues(old, at);
    if (person === undefined) person = mayBeTheirs(old) || isSame ? old.person : undefined;
    else if (mayBeTheirs(old) && isSame) person = people.join(person, old.person);
  }

  const held = number === undefined ? undefined : people.of(number);
  // It was named with another user id since.
  const isLate =
    held !== undefined &&
    userId !== undefined &&
    held.beside !== null &&
    held.beside !== userId &&
    at < held.seenAt;
  if (held !== undefined && held.person !== person && !isLate) {
    const isFree = held.leftAt !== null && held.leftAt < at;
    if (person === undefined) {
      const isSame = userId === undefined || people.continues(held, at);
      if (isSame && !isFree) person = held.person;
    } else if (!isFree && people.continues(held, at)) {
      const isNotice =
        previousNumber !== undefined &&
        mayBeTheirs(held) &&
        now - people.since(held.person) <= SAME_FOR_MS;
      const isHidden = held.beside === null && !people.hasNumber(person);
      if (isNotice || isHidden) person = people.join(person, held.person);
    }
  }

  person ??= people.newPerson(number, userId ?? previousUserId, at);
  for (const id of ids) people.see(id, { person, at, now });
  if (previousNumber !== undefined && (old === undefined || isTheirs)) {
    people.see(previousNumber, { person, at: old?.seenAt ?? at, now, leftAt: at });
  }
  if (number !== undefined && !isLate) {
    const beside = userId ?? old?.beside ?? null;
    people.see(number, { person, at, now, beside });
  }
  return { person, changed: people.changed(), joined: people.joined };
}

interface Seen {
  readonly person: string;
  readonly at: number;
  readonly now: number;
  readonly beside?: string | null;
  readonly leftAt?: number | null;
}

/** The rows while they are changed. */
class People {
  readonly #before: ReadonlyMap<string, PersonName>;
  readonly #rows: Map<string, PersonName>;
  readonly joined: { from: string; into: string }[] = [];

  constructor(known: readonly PersonName[]) {
    this.#before = new Map(known.map((row) => [row.name, row]));
    this.#rows = new Map(this.#before);
  }

  of(name: string): PersonName | undefined {
    return this.#rows.get(name);
  }

  #rowsOf(person: string): PersonName[] {
    return [...this.#rows.values()].filter((row) => row.person === person);
  }

  since(person: string): number {
    return Math.min(...this.#rowsOf(person).map(({ since }) => since));
  }

  hasNumber(person: string): boolean {
    return this.#rowsOf(person).some(({ name, leftAt }) => isNumber(name) && leftAt === null);
  }

  /** Whether nothing suggests that the number has gone from its person to another. */
  continues({ name, person, seenAt }: PersonName, at: number): boolean {
    const isSeenElsewhere = this.#rowsOf(person).some(
      (row) => row.name !== name && row.seenAt > seenAt,
    );
    return at - seenAt <= SAME_FOR_MS && !isSeenElsewhere;
  }

  /** @returns the person that began first, of whom all names are from now on */
  join(one: string, other: string): string {
    if (one === other) return one;
    const [into = one, from = other] = [one, other].toSorted(
      (a, b) => this.since(a) - this.since(b) || (a < b ? -1 : 1),
    );
    const since = this.since(from);
    for (const row of this.#rowsOf(from)) this.#rows.set(row.name, { ...row, person: into });
    const name = joinedName(from);
    const none = { seenAt: 0, beside: null, leftAt: null, former: null };
    this.#rows.set(name, { ...none, name, person: into, since });
    this.joined.push({ from, into });
    return into;
  }

  /** A name of its own: the number, as long as nobody was called so, because it is in older lanes. */
  newPerson(number: string | undefined, userId: string | undefined, at: number): string {
    const free = [number, userId].find(
      (name) => name !== undefined && !this.#rows.has(name) && this.#rowsOf(name).length === 0,
    );
    return free ?? `${number ?? userId ?? ''}~${at}`;
  }

  see(name: string, { person, at, now, beside, leftAt = null }: Seen): void {
    const row = this.#rows.get(name);
    const isMoved = row !== undefined && row.person !== person;
    // What was written before the person gave it up may arrive afterwards.
    const before = isMoved ? undefined : row;
    const given = before?.leftAt ?? null;
    this.#rows.set(name, {
      ...{ name, person },
      leftAt: given !== null && at <= given ? given : leftAt,
      since: row === undefined || isMoved ? now : row.since,
      seenAt: Math.max(at, isMoved ? 0 : (row?.seenAt ?? 0)),
      beside: beside ?? (isMoved ? null : (row?.beside ?? null)),
      former: isMoved ? row.person : (row?.former ?? null),
    });
  }

  changed(): PersonName[] {
    return [...this.#rows.values()].filter((row) => this.#before.get(row.name) !== row);
  }
}

/** Numbers are in E.164. */
export const isNumber = (name: string): boolean => name.startsWith('+');
