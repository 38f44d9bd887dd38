// How Node finds the modules of a file of tests; see run-file.js.
const TESTS = new URL('../', import.meta.url).href;
const GLOBALS = new URL('./jest-globals.js', import.meta.url).href;

/**
 * Modules below test/ are loaded anew for each file of tests, because they hold its state and
 * register its hooks. All others, the program's included, are loaded once for each process.
 */
export async function resolve(specifier, context, nextResolve) {
  const { search } = new URL(context.parentURL ?? 'file:');
  if (specifier === '@jest/globals') return { url: GLOBALS + search, shortCircuit: true };
  const found = await nextResolve(specifier, context);
  // @actions/workflow-parser is written for bundlers, which import JSON without its type.
  if (found.url.endsWith('.min.json')) return { ...found, importAttributes: { type: 'json' } };
  return found.url.startsWith(TESTS) ? { ...found, url: found.url + search } : found;
}
