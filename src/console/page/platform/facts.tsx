import { CHANNEL_NAMES, CHANNELS, exact } from '../formats.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Badge, Fact, type Tone } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { type Conversation, timeOf } from './resources.ts';

/** A row with a time; nothing when the time is missing. */
export function TimeRow(props: {
  readonly name: string;
  readonly text: string | null | undefined;
}) {
  const at = timeOf(props.text);
  return at === undefined ? null : <Fact name={props.name}>{exact(at)}</Fact>;
}

/** A row with a linked id; nothing when the id is missing. */
export function LinkedIdRow(props: {
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

/** @param what the resource, for the label of the copy button: `ticket` */
export function IdRow({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <Fact name="Id" class="id-copy">
      <span class="mono">{id}</span>
      <CopyButton text={id} what={`the ${what} id`} />
    </Fact>
  );
}

/** Labels for the platform's ticket and conversation statuses (API §3). */
const STATUS_BADGES: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  New: ['accent', 'info', 'New'],
  Open: ['accent', 'queued', 'Open'],
  Completed: ['ok', 'ok', 'Completed'],
  Archived: ['neutral', 'discarded', 'Archived'],
  WaitingUser: ['warning', 'pause', 'Waiting for team'],
  WaitingContact: ['neutral', 'pause', 'Waiting for customer'],
  new: ['accent', 'info', 'New'],
  open: ['accent', 'queued', 'Open'],
  pending: ['warning', 'pause', 'Pending'],
};

export function StatusBadge({ status }: { readonly status: string | null | undefined }) {
  if (!status) return <span class="muted">–</span>;
  const known = Object.hasOwn(STATUS_BADGES, status) ? STATUS_BADGES[status] : undefined;
  const [tone, icon, words] = known ?? (['neutral', 'info', status] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}

/** `Email, started by the customer`; an unknown type is shown as it is. */
export function channelWords({
  type,
  direction,
}: Pick<Conversation, 'type' | 'direction'>): string {
  const known = CHANNELS.find((channel) => channel === type);
  const name = known === undefined ? type.replace(/_/g, ' ') : CHANNEL_NAMES[known];
  if (direction === 'inbound') return `${name}, started by the customer`;
  if (direction === 'outbound') return `${name}, started by the team`;
  return name;
}
