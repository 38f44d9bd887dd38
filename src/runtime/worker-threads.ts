/**
 * The URL of a worker thread's compiled file, given in the form in which it is imported
 * (`./x-worker.ts`). Node itself loads workers, without any test transformer, so a module that runs
 * from `src/` (under jest) uses the built file of the same name in `dist/`.
 */
export function workerUrl(importer: string, relative: string): URL {
  const source = new URL(relative, importer);
  const href = source.href.replace(/\.ts$/, '.js');
  return new URL(importer.endsWith('.ts') ? href.replace('/src/', '/dist/') : href);
}
