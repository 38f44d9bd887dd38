import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Query } from '../api.ts';
import type { Refusal } from '../refusal.ts';
import { asRefusal } from '../load.ts';
import { cursorOf } from './addresses.ts';
import type { Page } from './resources.ts';

/** A list of the platform as far as it was paged through. */
export interface Pages<T> {
  readonly items: readonly T[] | undefined;
  readonly failure: Refusal | undefined;
  readonly loading: boolean;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly reload: () => void;
}

interface State<T> {
  readonly items: readonly T[] | undefined;
  readonly cursor: string | undefined;
  readonly failure: Refusal | undefined;
  readonly loading: boolean;
}

/** Reads the first page, again when `query` changes, and further ones on demand. */
export function usePages<T>(shop: string, resource: string, query: Query): Pages<T> {
  const [state, setState] = useState<State<T>>(EMPTY);
  const abort = useRef(new AbortController());
  const key = JSON.stringify([shop, resource, query]);

  const read = (cursor: string | undefined) => {
    abort.current.abort();
    const { signal } = (abort.current = new AbortController());
    setState((now) => ({ ...now, failure: undefined, loading: true }));
    api.platform<Page<T>>(shop, resource, { ...query, cursor }, signal).then(
      ({ results, next }) => {
        if (signal.aborted) return;
        setState(({ items = [] }) => ({
          items: cursor === undefined ? results : [...items, ...results],
          cursor: cursorOf(next),
          failure: undefined,
          loading: false,
        }));
      },
      (error: unknown) => {
        if (signal.aborted) return;
        setState((now) => ({ ...now, failure: asRefusal(error), loading: false }));
      },
    );
  };
  useEffect(() => {
    setState(EMPTY);
    if (shop !== '') read(undefined);
    return () => abort.current.abort();
  }, [key]);
  const { items, failure, loading, cursor } = state;
  return {
    ...{ items, failure, loading },
    hasMore: cursor !== undefined,
    more: () => read(cursor),
    reload: () => read(undefined),
  };
}

const EMPTY = { items: undefined, cursor: undefined, failure: undefined, loading: true };
