import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refusal } from './refusal.ts';

/** What a part of the page asked for. `data` stays while it is asked for again. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly failure: Refusal | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * Loads when a part appears and whenever one of `keys` changes; an answer that is no longer wanted
 * is aborted.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[] = [],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    data: undefined,
    failure: undefined,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, failure: undefined, loading: true }));
    load(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, failure: undefined, loading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, failure: asRefusal(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [turn, ...keys]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}

/** What can be said to a person of anything that was thrown. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal('internal', 'This page has made a mistake.');
