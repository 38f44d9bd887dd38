/**
 * The URL of a worker thread's compiled file, given as it is imported (`./x-worker.ts`).
 * A worker is loaded by Node itself, outside of any test transformer: a module that runs from
 * `src/` (under jest) uses the built file of the same name under `dist/`.
 */
export function workerUrl(importer: string, relative: string): URL {
  const source = new URL(relative, importer);
  const href = source.href.replace(/\.ts$/, '.js');
  return new URL(importer.endsWith('.ts') ? href.replace('/src/', '/dist/') : href);
}
