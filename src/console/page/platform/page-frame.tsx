import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Refusal } from '../refusal.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { api, asRefusal, type Query } from '../api.ts';
import { cursorOf } from './addresses.ts';
import type { Page } from './resources.ts';

/**
 * Renders a list of the platform with its loading, error and empty states and a button for more.
 */
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

/** An error of the platform's API; the hint says that the gateway itself still works. */
export const PlatformFailure = (props: {
  readonly refusal: Refusal;
  readonly onRetry: () => void;
}) => (
  <>
    <Failure refusal={props.refusal} onRetry={() => props.onRetry()} />
    {props.refusal.code === 'unavailable' && (
      <p class="platform-hint muted">
        The platform failed or did not respond. New messages are still accepted and stay queued.{' '}
        <a href="/doctor">Doctor</a> checks the platform’s URL and key.
      </p>
    )}
  </>
);

/** The loaded pages of a list. */
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

/** Loads the first page, again when `query` changes, and further pages on demand. */
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

/** The trimmed value of a form field. */
export function fieldOf(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
