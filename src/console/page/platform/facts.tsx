import { CHANNEL_NAMES, CHANNELS, exact } from '../formats.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Badge, Fact, type Tone } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { type Conversation, timeOf } from './resources.ts';

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

/** A ticket's or a conversation's status, in the platform's words (API §3). */
const LOOKS: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  New: ['accent', 'info', 'New'],
  Open: ['accent', 'queued', 'Open'],
  Completed: ['ok', 'ok', 'Completed'],
  Archived: ['neutral', 'discarded', 'Archived'],
  WaitingUser: ['warning', 'pause', 'Waits for the team'],
  WaitingContact: ['neutral', 'pause', 'Waits for the customer'],
  new: ['accent', 'info', 'New'],
  open: ['accent', 'queued', 'Open'],
  pending: ['warning', 'pause', 'Pending'],
};

export function StatusBadge({ status }: { readonly status: string | null | undefined }) {
  if (!status) return <span class="muted">–</span>;
  const known = Object.hasOwn(LOOKS, status) ? LOOKS[status] : undefined;
  const [tone, icon, words] = known ?? (['neutral', 'info', status] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}

/** `Email, begun by the customer`; a type that nobody knows by its own name. */
export function channelWords({
  type,
  direction,
}: Pick<Conversation, 'type' | 'direction'>): string {
  const known = CHANNELS.find((channel) => channel === type);
  const name = known === undefined ? type.replace(/_/g, ' ') : CHANNEL_NAMES[known];
  if (direction === 'inbound') return `${name}, begun by the customer`;
  if (direction === 'outbound') return `${name}, begun by the team`;
  return name;
}
