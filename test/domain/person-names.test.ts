import { expect, test } from '@jest/globals';
import { type PersonName, type Sighting, sightingOf } from '../../src/domain/person-names.ts';

/** `test/channels/sms/people.ts` plays whole histories of people; these are of strangers. */

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-30T12:00:00Z');
const PLACE = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
const VICTIM = { number: '+14155550001', userId: 'US.1' };

type Names = Omit<Sighting, 'scope' | 'ours' | 'at'>;

/** The person of the last message, each an hour after the other. */
function lastOf(...sightings: readonly Names[]) {
  const rows = new Map<string, PersonName>();
  const people = sightings.map((names, n) => {
    const at = NOW + n * HOUR;
    const { person, changed } = sightingOf({ ...PLACE, ...names, at }, [...rows.values()], at);
    for (const row of changed) rows.set(row.name, row);
    return person;
  });
  return people.at(-1);
}

const stranger = { number: '+14155550002', userId: 'US.2' };

const ids = { userId: 'US.3', previousUserId: stranger.userId };

test.each<[label: string, notice: Names]>([
  ['changes to their number', { number: VICTIM.number, previousNumber: stranger.number, ...ids }],
  ['gives up their number', { number: '+14155550009', previousNumber: VICTIM.number, ...ids }],
])('a stranger, who is known by an id and %s, does not become the person', (_label, notice) => {
  const all = [VICTIM, stranger, notice];
  expect(lastOf(...all)).toBe(stranger.number);
  expect(lastOf(...all, { userId: VICTIM.userId })).toBe(VICTIM.number);
});

test('a notice without user ids tells who wrote from the new number already', () => {
  const changed = { number: '+14155550003', previousNumber: VICTIM.number };
  const early = { number: '+14155550003', userId: 'US.3' };
  expect(lastOf({ number: VICTIM.number }, early, changed)).toBe(VICTIM.number);
});
