import { afterAll, describe, expect, test } from '@jest/globals';
import { createMessageRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import {
  acceptPayload,
  actualPayload,
  expectedPayload,
  fixtureNames,
  orphanedExpectations,
} from './fixture-messages.ts';

/** `UPDATE_FIXTURES=1` accepts what comes out; `npm run fixtures` shows the difference before. */
const updating = process.env['UPDATE_FIXTURES'] === '1';
const scratch = tempDir();
afterAll(() => scratch.remove());

describe('a message as the platform gets it', () => {
  test.each(fixtureNames())('%s', async (name) => {
    const actual = await actualPayload(name, scratch.path);

    expect(createMessageRequestSchema.safeParse(actual.request).error).toBeUndefined();
    if (updating) acceptPayload(name, actual);
    expect(actual).toEqual(expectedPayload(name));
  });
});

test('every expectation has its message', () => {
  expect(orphanedExpectations()).toEqual([]);
});
