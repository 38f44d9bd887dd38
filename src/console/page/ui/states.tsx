import type { ComponentChildren } from 'preact';
import type { Refusal } from '../refusal.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** There is nothing here, why, and what to do about it. */
export const Empty = (props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}) => (
  <div class="empty">
    <Icon name={props.icon} />
    <h2>{props.title}</h2>
    {props.children !== undefined && <div class="muted">{props.children}</div>}
  </div>
);

/** What was asked for did not come. */
export const Failure = (props: { readonly refusal: Refusal; onRetry?(): void }) => (
  <div class="empty failure" role="alert">
    <Icon name="alert" />
    <h2>{props.refusal.code === 'not_found' ? 'Not found' : 'This could not be loaded'}</h2>
    <p class="muted">{props.refusal.message}</p>
    {props.onRetry && (
      <Button icon="again" onClick={() => props.onRetry?.()}>
        Try again
      </Button>
    )}
  </div>
);

/** Holds the place of what is on its way: `lines` of text height, or one block of `height` pixels. */
export const Skeleton = (props: { readonly lines?: number; readonly height?: number }) => (
  <div class="skeleton" aria-busy="true" aria-label="Loading" role="img">
    {Array.from({ length: props.lines ?? 1 }, (_, line) => (
      <span
        key={line}
        style={{
          height: `${props.height ?? 16}px`,
          width: props.height === undefined ? `${92 - ((line * 37) % 40)}%` : '100%',
        }}
      />
    ))}
  </div>
);
