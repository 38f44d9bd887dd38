import { expect, test } from '@jest/globals';
import { createEntryIds } from '../../src/intake/intake.ts';

test('entry ids are UUIDs of version 7, all different, and begin with the time', () => {
  const newId = createEntryIds();
  const ids = Array.from({ length: 5000 }, () => newId());
  expect(new Set(ids).size).toBe(ids.length);
  const times = ids.map((id) => id.slice(0, 13));
  expect(times.toSorted()).toEqual(times);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
