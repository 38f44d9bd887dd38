// What `@jest/globals` is for a file of tests; see run-file.js.
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } =
  globalThis[Symbol.for('tests of this file')];
