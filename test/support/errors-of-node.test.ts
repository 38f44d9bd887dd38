import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

test("the errors of Node's modules are errors here, as in the program, and nothing else is", async () => {
  class OwnError extends Error {}
  const ofNode: unknown = await readFile('/nowhere').catch((error: unknown) => error);
  expect(ofNode instanceof Error).toBe(true);
  expect(ofNode instanceof OwnError).toBe(false);
  expect(new OwnError() instanceof Error).toBe(true);
  expect(new OwnError() instanceof OwnError).toBe(true);
  expect({ name: 'Error', message: 'ENOENT' } instanceof Error).toBe(false);
});
