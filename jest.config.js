/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  // With src/, `--findRelatedTests FILE` finds the tests of a file.
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testRunner: './test/support/run-file.js',
  // Much longer than any test takes: on a busy machine a test can be ten times slower.
  testTimeout: 300_000,
  reporters: ['default', '<rootDir>/test/support/how-to-repeat.js'],
  testSequencer: './test/support/longest-first.js',
  globalSetup: './test/support/ballast.js',
  // The tests of browsers and processes wait more than they work.
  maxWorkers: 4,
};
