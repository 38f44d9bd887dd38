import type { ComponentChildren, ComponentProps } from 'preact';
import type { Refusal } from '../refusal.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Failure, type NotLoaded, Skeleton } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { api } from '../api.ts';
import { isDeskOnly } from '../stream.ts';
import type { Query } from '../query.ts';
import { type Pages, usePages } from '../loading.ts';
import { cursorOf, type Go, type PlatformPlace, type View } from './addresses.ts';
import type { Page } from '../../contract.ts';
import type { Resources } from './resources.ts';

/** What the list of a view gets. */
export interface ListProps {
  readonly place: PlatformPlace;
  readonly go: Go;
}

/** What the page of one ticket, conversation or contact gets. */
export interface ItemProps<V extends View> {
  readonly shop: string;
  readonly item: Resources[V];
}

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
    return <PlatformNotLoaded {...{ failure }} onRetry={reload} lines={6} height={28} />;
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
      {failure !== undefined && (
        <PlatformFailure refusal={failure} onRetry={hasMore ? more : reload} />
      )}
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

/** The list of one of the shop's resources, page by page. */
export const usePlatformPages = <R extends keyof Resources>(
  shop: string,
  resource: R,
  query: Query,
): Pages<Resources[R]> =>
  usePages<Resources[R], string>(async (cursor, signal) => {
    const page = await api.platform<Page<Resources[R]>>(
      shop,
      resource,
      { ...query, cursor },
      signal,
    );
    return { items: page.results, next: cursorOf(page.next) };
  });

/** Stands in for what is loading from the platform, or failed to. */
export const PlatformNotLoaded = ({ failure, ...rest }: ComponentProps<typeof NotLoaded>) =>
  failure === undefined ? (
    <Skeleton {...rest} />
  ) : (
    <PlatformFailure refusal={failure} onRetry={rest.onRetry} />
  );

/** An error of the platform's API; the hint says that the gateway itself still works. */
const PlatformFailure = (props: { readonly refusal: Refusal; readonly onRetry: () => void }) => (
  <>
    <Failure {...props} />
    {props.refusal.code === 'unavailable' && (
      <p class="platform-hint muted">
        The platform failed or did not respond. New messages are still accepted and stay queued.{' '}
        {!isDeskOnly.value && (
          <>
            <a href="/doctor">Doctor</a> checks the platform’s URL and key.
          </>
        )}
      </p>
    )}
  </>
);
