// jest's `testRunner`: runs one file of tests with Node's own modules. jest's module registry, which
// this replaces, loads every package anew for each file, in a realm of its own whose errors and
// arrays are no instances of `Error` and `Array`.
import asyncHooks from 'node:async_hooks';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import '../../scripts/ts-loader.mjs';

const require = createRequire(import.meta.url);

register('./module-hooks.js', import.meta.url);

let files = 0;

export default async function runFile(globalConfig, config, environment, _runtime, ...rest) {
  files += 1;
  const run = `?run=${files}`;
  const storages = [];
  const runtime = {
    requireInternalModule: (path) => withStorages(storages, () => requireAnew(path)),
    requireModule: (path) => require(path),
    setGlobalsForRuntime(globals) {
      globalThis[Symbol.for('tests of this file')] = globals;
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href + run),
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  };
  try {
    return await circus.default(globalConfig, config, environment, runtime, ...rest);
  } finally {
    // Each one that is left enabled makes every promise of the process slower (Node 20).
    for (const storage of storages) storage.disable();
    forgetCircus();
  }
}

/** Removes the tests of the file, and who listens to their ends, from where jest-circus keeps them. */
function forgetCircus() {
  const kept = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (kept.includes(symbol.description)) delete globalThis[symbol];
  }
}

/** jest-circus keeps the tests of a file in its modules. */
function requireAnew(path) {
  delete require.cache[path];
  return require(path);
}

/** Adds to `storages` what is made meanwhile: jest-circus never disables its own. */
function withStorages(storages, work) {
  const Original = asyncHooks.AsyncLocalStorage;
  asyncHooks.AsyncLocalStorage = class extends Original {
    constructor() {
      super();
      storages.push(this);
    }
  };
  try {
    return work();
  } finally {
    asyncHooks.AsyncLocalStorage = Original;
  }
}
