import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { CHANNEL_NAMES, clock, exact, relative, STATE_NAMES } from '../formats.ts';
import { now } from '../now.ts';
import type { Channel, EntryState } from '../../contract.ts';
import type { Refusal } from '../refusal.ts';
import { Icon, type IconName } from './icon.tsx';
import { Button } from './button.tsx';

/** The page's heading, which receives the focus when the page opens, and the title of the tab. */
export function PageTitle(props: {
  readonly title: string;
  /** Actions on the whole page. */
  readonly children?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${props.title} · Sluice`;
  }, [props.title]);
  return (
    <div class="page-title">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children !== undefined && <div class="page-tools">{props.children}</div>}
    </div>
  );
}

/** A section with a heading. */
export function Card(props: {
  readonly title: string;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.tools}
      </header>
      {props.children}
    </section>
  );
}

/** A name and its value, in a `dl`; further properties are those of the value. */
export const Fact = ({ name, ...value }: { readonly name: string } & ComponentProps<'dd'>) => (
  <div>
    <dt>{name}</dt>
    <dd {...value} />
  </div>
);

/** A card with a table of these columns; `children` are its rows. */
export const TableCard = (props: {
  readonly class: string;
  readonly columns: readonly string[];
  /** The columns of numbers. */
  readonly numbers?: readonly string[];
  readonly children: ComponentChildren;
}) => (
  <div class={`card ${props.class}`}>
    <table class="table">
      <thead>
        <tr>
          {props.columns.map((name) => (
            <th key={name} scope="col" class={props.numbers?.includes(name) ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  </div>
);

/** A text from the gateway; parts in backticks are shown as code. */
export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split(/`([^`]+)`/)
      .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
  </>
);

/** `12 s ago`, updated every second; the tooltip shows the exact time. */
export const Time = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={exact(at)}>
    {relative(at, now.value)}
  </time>
);

/** The time of day; the tooltip shows the exact time. */
export const ClockTime = ({ at }: { readonly at: number }) => (
  <time class="muted" dateTime={new Date(at).toISOString()} title={exact(at)}>
    {clock(at)}
  </time>
);

export type Tone = 'ok' | 'warning' | 'danger' | 'accent' | 'neutral';

/** A word with an icon and a colour, so that the meaning does not depend on colour alone. */
export const Badge = (props: {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly children: ComponentChildren;
}) => (
  <span class={`badge ${props.tone}`}>
    <Icon name={props.icon} />
    {props.children}
  </span>
);

const STATE_TONES: Readonly<Record<EntryState, Tone>> = {
  queued: 'accent',
  delivering: 'accent',
  delivered: 'ok',
  dead: 'danger',
  held: 'warning',
  suppressed: 'neutral',
  discarded: 'neutral',
};

export const StateBadge = ({ state }: { readonly state: EntryState }) => (
  <Badge tone={STATE_TONES[state]} icon={state}>
    {STATE_NAMES[state]}
  </Badge>
);

export const ChannelBadge = ({ channel }: { readonly channel: Channel }) => (
  <span class="channel">
    <Icon name={channel} />
    {CHANNEL_NAMES[channel]}
  </span>
);

/** A framed remark on the page, with an icon. */
export const Note = (props: {
  readonly tone: 'ok' | 'warning' | 'danger';
  readonly icon: IconName;
  readonly children: ComponentChildren;
}) => (
  <div class={`note ${props.tone}`}>
    <Icon name={props.icon} />
    <div>{props.children}</div>
  </div>
);

/** Explains why a list is empty and what to do. */
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

/** A failed request, with a button to try again. */
export const Failure = (props: { readonly refusal: Refusal; readonly onRetry: () => void }) => (
  <div class="empty failure" role="alert">
    <Icon name="alert" />
    <h2>{props.refusal.code === 'not_found' ? 'Not found' : 'Loading failed'}</h2>
    <p class="muted">{props.refusal.message}</p>
    <Button icon="again" onClick={props.onRetry}>
      Try again
    </Button>
  </div>
);

interface SkeletonSize {
  readonly lines?: number;
  readonly height?: number;
}

/** Stands in for data that is loading or failed to load. */
export const NotLoaded = (
  props: SkeletonSize & { readonly failure: Refusal | undefined; readonly onRetry: () => void },
) =>
  props.failure === undefined ? (
    <Skeleton {...props} />
  ) : (
    <Failure refusal={props.failure} onRetry={props.onRetry} />
  );

/** A placeholder while loading: `lines` of text height, or one block of `height` pixels. */
export const Skeleton = (props: SkeletonSize) => (
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

export interface Tab {
  readonly key: string;
  readonly label: string;
  readonly render: () => ComponentChildren;
}

/**
 * Tabs, of which one is shown; arrow keys switch between them. With `isInAddress`, the tab is the fragment of
 * the page's address, so that it can be linked to and is the same after a reload.
 */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly tools?: ComponentChildren;
  readonly isInAddress?: boolean;
}) {
  const { label, tabs, tools, isInAddress = false } = props;
  const [chosen, setChosen] = useState(isInAddress ? location.hash.slice(1) : tabs[0]?.key);
  const choose = (key: string) => {
    setChosen(key);
    if (isInAddress) history.replaceState(history.state, '', `#${key}`);
  };
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find(({ key }) => key === chosen) ?? tabs[0];
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex(({ key }) => key === current?.key);
    const next = by === undefined ? undefined : tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    choose(next.key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus();
  };
  if (current === undefined) return null;
  return (
    <div class="tabs">
      <div class="tabs-line">
        <div role="tablist" aria-label={label} ref={list} onKeyDown={step}>
          {tabs.map((tab) => (
            <button
              key={tab.key}
              type="button"
              role="tab"
              id={`${id}-${tab.key}`}
              data-tab={tab.key}
              aria-selected={tab.key === current.key}
              aria-controls={`${id}-panel`}
              tabIndex={tab.key === current.key ? 0 : -1}
              onClick={() => choose(tab.key)}
            >
              {tab.label}
            </button>
          ))}
        </div>
        {tools}
      </div>
      <div
        key={current.key}
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current.key}`}
        tabIndex={0}
      >
        {current.render()}
      </div>
    </div>
  );
}
