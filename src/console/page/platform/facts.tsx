import { exact } from '../formats.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Fact } from '../ui/fact.tsx';
import { timeOf } from './resources.ts';

/** A line for a time; none for one that is missing. */
export function Moment(props: { readonly name: string; readonly text: string | null | undefined }) {
  const at = timeOf(props.text);
  return at === undefined ? null : <Fact name={props.name}>{exact(at)}</Fact>;
}

/** A line for another one's id, which leads to it; none for one that is missing. */
export function LinkedId(props: {
  readonly name: string;
  readonly id: string | null | undefined;
  readonly href: (id: string) => string;
}) {
  return props.id ? (
    <Fact name={props.name}>
      <a class="mono" href={props.href(props.id)}>
        {props.id}
      </a>
    </Fact>
  ) : null;
}

/** @param what whose id it is, for the button's name: `ticket` */
export function OwnId({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <Fact name="Id" class="id-copy">
      <span class="mono">{id}</span>
      <CopyButton text={id} what={`the ${what}’s id`} />
    </Fact>
  );
}
