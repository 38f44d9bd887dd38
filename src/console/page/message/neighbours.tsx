import type { EntryDetail } from '../../contract.ts';
import { lastListAddress } from '../messages/last-list.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

/** Back to the list, and to the messages before and after this one. */
export const Neighbours = ({ entry }: { readonly entry: EntryDetail }) => (
  <nav class="neighbours" aria-label="Messages around this one">
    <a href={lastListAddress()} class="button quiet small">
      <Icon name="back" />
      <span>Messages</span>
    </a>
    <span class="neighbours-around">
      <Neighbour to={entry.previous} icon="back" label="Older message" />
      <Neighbour to={entry.following} icon="forward" label="Newer message" />
    </span>
  </nav>
);

const Neighbour = (props: {
  readonly to: string | undefined;
  readonly icon: IconName;
  readonly label: string;
}) =>
  props.to === undefined ? (
    <span class="button quiet bare small" aria-hidden="true" data-disabled>
      <Icon name={props.icon} />
    </span>
  ) : (
    <a
      href={`/messages/${props.to}`}
      class="button quiet bare small"
      aria-label={props.label}
      title={props.label}
    >
      <Icon name={props.icon} />
    </a>
  );
