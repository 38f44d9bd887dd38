import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Refusal } from '../refusal.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { api, asRefusal, type Query } from '../api.ts';
import { cursorOf } from './addresses.ts';
import type { Page } from './resources.ts';

/** What is around every list of the platform: waiting, failure, nothing, and the way to more. */
export function PageFrame<T>(props: {
  readonly pages: Pages<T>;
  readonly empty: { readonly icon: IconName; readonly title: string; readonly hint: string };
  readonly render: (items: readonly T[]) => ComponentChildren;
  readonly moreWords?: string;
}) {
  const { pages, empty, render, moreWords = 'Load more' } = props;
  const { items, failure, loading, hasMore, more, reload } = pages;
  if (items === undefined) {
    return failure === undefined ? (
      <Skeleton lines={6} height={28} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  if (items.length === 0 && !hasMore) {
    return (
      <Empty icon={empty.icon} title={empty.title}>
        <p>{empty.hint}</p>
      </Empty>
    );
  }
  return (
    <>
      {render(items)}
      {failure !== undefined && <PlatformFailure refusal={failure} onRetry={more} />}
      {hasMore && failure === undefined && (
        <p class="list-end">
          <Button busy={loading} onClick={more}>
            {moreWords}
          </Button>
        </p>
      )}
    </>
  );
}

/** A failure of the platform's API; the hint says that the gateway itself still works. */
export const PlatformFailure = (props: {
  readonly refusal: Refusal;
  readonly onRetry: () => void;
}) => (
  <>
    <Failure refusal={props.refusal} onRetry={() => props.onRetry()} />
    {props.refusal.code === 'unavailable' && (
      <p class="platform-hint muted">
        That is the platform’s answer, or that it gave none. Messages are taken in meanwhile and
        wait. <a href="/doctor">The Doctor page</a> tests its address and key.
      </p>
    )}
  </>
);

/** A list of the platform as far as it was paged through. */
interface Pages<T> {
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

/** What was typed into a field of a form, without the space around it. */
export function fieldOf(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
