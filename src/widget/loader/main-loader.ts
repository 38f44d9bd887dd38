import type { MainModule } from '../main-part.ts';

/** Fetches the main part, once; after a failure it can be asked for again. */
export function createMainLoader(url: string): () => Promise<MainModule> {
  let failures = 0;
  let fetching: Promise<MainModule> | undefined;
  return () => {
    // Some browsers remember that an address failed: another attempt is another address.
    const address = failures > 0 ? `${url}?again=${failures}` : url;
    fetching ??= (import(/* @vite-ignore */ address) as Promise<MainModule>).catch(
      (error: unknown) => {
        failures += 1;
        fetching = undefined;
        throw error;
      },
    );
    return fetching;
  };
}
