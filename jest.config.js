/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  coverageProvider: 'v8',
  // Much longer than any test takes: on a busy machine a test can be ten times slower.
  testTimeout: 300_000,
  setupFiles: ['<rootDir>/test/support/errors-of-node.js'],
  testSequencer: './test/support/longest-first.js',
  // The tests of browsers and processes wait more than they work.
  maxWorkers: 4,
  // The modules of a file that is done stay in the memory of its process: without a new one now and
  // then, the last files would spend most of their time in the garbage collector.
  workerIdleMemoryLimit: '768MB',
};
