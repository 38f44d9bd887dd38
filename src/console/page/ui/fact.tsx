import type { ComponentChildren } from 'preact';

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
