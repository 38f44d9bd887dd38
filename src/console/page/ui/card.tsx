import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

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
