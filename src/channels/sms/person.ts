import {
  isNumber,
  type LanePerson,
  personInLane,
  type PersonName,
} from '../../domain/person-names.ts';
import type { OptOutStore } from '../../spool/opt-out-store.ts';
import { subscriberOf } from '../../domain/phone-forms.ts';

/** What a person's names (`domain/person-names.ts`) mean for their opt-out, contact and address. */

/** Names that are the person's now, the one that was seen last first. */
const namesNow = ({ names }: LanePerson): PersonName[] =>
  names
    .filter(({ seenAt, leftAt }) => seenAt > 0 && leftAt === null)
    .toSorted((a, b) => b.seenAt - a.seenAt || Number(isNumber(b.name)) - Number(isNumber(a.name)));

/** The number or user id to which a reply goes: under an older one may be another person by now. */
export const replyAddress = (person: LanePerson): string | undefined => namesNow(person)[0]?.name;

/** Names the person in counts of messages. */
export const countedAs = (from: string, person: LanePerson | undefined): string =>
  (person && personInLane(person.lane)?.person) ?? from;

/**
 * The number of the contact: the message's own, or one that was known before it was hidden. Undefined if
 * there is none, or if another person had it before: platforms find contacts by their numbers, and that
 * one is the other's.
 */
export function contactNumber(
  own: string | undefined,
  person: LanePerson | undefined,
): string | undefined {
  if (person === undefined) return own;
  const former = new Set([person.lane, ...person.joined].map((lane) => personInLane(lane)?.person));
  const isFree = ({ former: other }: PersonName) => other === null || former.has(other);
  if (own === undefined) {
    return namesNow(person).find((row) => isNumber(row.name) && isFree(row))?.name;
  }
  const row = person.names.find(({ name }) => name === subscriberOf(own));
  return row === undefined || isFree(row) ? own : undefined;
}

/** Where the opt-out of a number is, whoever has it. @param lane one between it and the same sender */
export const numberLane = (lane: string, number: string): string =>
  `${lane.slice(0, lane.lastIndexOf('/') + 1)}#${number}`;

/**
 * The opt-outs of one lane's person: under all lanes that were joined, and of each number that is theirs
 * now. An opt-out of a number stays with the number, whoever has it next, until they opt in. It is
 * stored without the account, since a shop may take its number to another provider; rows from before
 * that have the account.
 */
export function optOutsOf(optOuts: OptOutStore, person: LanePerson | undefined): OptOutStore {
  const lanesOf = (lane: string): string[] => {
    if (person === undefined) return [lane];
    const numbers = namesNow(person).filter(({ name }) => isNumber(name));
    const ofNumbers = numbers.map(({ name }) => numberLane(person.lane, name));
    return [person.lane, ...person.joined, ...ofNumbers];
  };
  const each = <T>(lanes: readonly string[], work: (lane: string) => Promise<T>) =>
    Promise.all(lanes.map(work));
  const stored = (lane: string) => lanesOf(lane).map(withoutAccount);
  const all = (lane: string) => [...lanesOf(lane), ...stored(lane)];
  return {
    isOptedOut: async (shopId, lane) =>
      (await each(all(lane), (one) => optOuts.isOptedOut(shopId, one))).includes(true),
    optOut: async (shopId, lane, sid) => {
      await each(stored(lane), (one) => optOuts.optOut(shopId, one, sid));
    },
    optIn: async (shopId, lane, sid) =>
      (await each(all(lane), (one) => optOuts.optIn(shopId, one, sid))).includes(true),
  };
}

const withoutAccount = (lane: string): string => lane.replace(/^[^/]*/, '');
