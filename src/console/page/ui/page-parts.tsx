import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { exact, relative } from '../formats.ts';
import { now } from '../now.ts';

/** The heading of a page, which gets the focus when the page is entered, and the tab's title. */
export function PageTitle(props: {
  readonly title: string;
  /** What may be done with the whole page. */
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

/** A part of a page with a heading of its own. */
export function Card(props: {
  readonly title: string;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}) {
  const id = useId();
  return (
    <section class={`card${props.wide ? ' wide' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.tools}
      </header>
      {props.children}
    </section>
  );
}

/** One line of what is known: a name and a value, in a `dl`. */
export function Fact(props: {
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class={props.class}>{props.children}</dd>
    </div>
  );
}

/** A sentence of the gateway; what it has set in backticks is shown as code. */
export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split(/`([^`]+)`/)
      .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
  </>
);

/** `12 s ago`, which goes on counting; the exact time is its title. */
export const Time = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={exact(at)}>
    {relative(at, now.value)}
  </time>
);
