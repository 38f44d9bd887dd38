import type { ComponentChildren } from 'preact';
import type { Refusal } from '../refusal.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import type { IconName } from '../ui/icon.tsx';
import type { Pages } from './use-pages.ts';

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

/** The platform is another machine: what is wrong with it is not wrong with the gateway. */
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
