import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { asRefusal } from './api.ts';
import type { Refusal } from './refusal.ts';

/** `data` stays while a request is sent again. */
interface RequestState<T> {
  readonly data: T | undefined;
  readonly failure: Refusal | undefined;
  readonly loading: boolean;
}

type Request<T> = (signal: AbortSignal) => Promise<T>;

/** Sends one request at a time: the next one, or unmounting, aborts the one before. */
export function useRequest<T>(isLoading = false): RequestState<T> & {
  readonly send: (request: Request<T>) => void;
} {
  const [state, setState] = useState<RequestState<T>>({
    data: undefined,
    failure: undefined,
    loading: isLoading,
  });
  const abort = useRef(new AbortController());
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
      abort.current.abort();
    },
    [],
  );
  const send = useCallback((request: Request<T>) => {
    if (isGone.current) return;
    abort.current.abort();
    const { signal } = (abort.current = new AbortController());
    const update = (change: Partial<RequestState<T>>) => {
      if (!signal.aborted) setState((now) => ({ ...now, failure: undefined, ...change }));
    };
    update({ loading: true });
    request(signal).then(
      (data) => update({ data, loading: false }),
      (error: unknown) => update({ failure: asRefusal(error), loading: false }),
    );
  }, []);
  return { ...state, send };
}

/** Loads when the component is mounted and whenever one of `keys` changes. */
export function useLoad<T>(load: Request<T>, keys: readonly unknown[] = []) {
  const { send, ...state } = useRequest<T>(true);
  const current = useRef(load);
  current.current = load;
  const reload = useCallback(() => send(current.current), []);
  useEffect(reload, keys);
  return { ...state, reload };
}

/** A page of a list. `next` is the cursor of the page after it; undefined at the end. */
export interface Page<T, C> {
  readonly items: readonly T[];
  readonly next: C | undefined;
}

/** Loads the first page when the component is mounted and whenever one of `keys` changes; further pages on demand. */
export function usePages<T, C>(
  read: (cursor: C | undefined, signal: AbortSignal) => Promise<Page<T, C>>,
  keys: readonly unknown[] = [],
) {
  const { data, send, failure, loading } = useRequest<Page<T, C>>(true);
  const reload = () => send((signal) => read(undefined, signal));
  useEffect(reload, keys);
  const more = () => {
    if (data === undefined || loading) return;
    send(async (signal) => {
      const { items, next } = await read(data.next, signal);
      return { items: [...data.items, ...items], next };
    });
  };
  return { items: data?.items, hasMore: data?.next !== undefined, failure, loading, more, reload };
}

/** The loaded pages of a list. */
export type Pages<T> = ReturnType<typeof usePages<T, string>>;
