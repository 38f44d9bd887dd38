import type { MainModule } from '../main-part.ts';

/** Fetches the main part, once; after a failure it can be asked for again. */
export function createMainLoader(url: string): () => Promise<MainModule> {
  let address = url;
  let failures = 0;
  let fetching: Promise<MainModule> | undefined;
  return () => {
    fetching ??= (import(/* @vite-ignore */ address) as Promise<MainModule>).catch(
      (error: unknown) => {
        // Some browsers remember that an address failed: another attempt is another address.
        address = `${url}?${++failures}`;
        fetching = undefined;
        throw error;
      },
    );
    return fetching;
  };
}
