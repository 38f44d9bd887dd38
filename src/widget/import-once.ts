/**
 * Returns a function that imports a script of the widget once; after a failure, the next call tries
 * again.
 * @param url absolute
 */
export function importOnce<Module>(url: string): () => Promise<Module> {
  let address = url;
  let failures = 0;
  let importing: Promise<Module> | undefined;
  return () => {
    importing ??= (import(/* @vite-ignore */ address) as Promise<Module>).catch(
      (error: unknown) => {
        // Some browsers cache a failed import by its URL, so the next attempt uses another URL.
        address = `${url}?${++failures}`;
        importing = undefined;
        throw error;
      },
    );
    return importing;
  };
}
