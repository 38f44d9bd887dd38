import type { ComponentChildren } from 'preact';
import { CHANNELS } from '../../../domain/channel.ts';
import { CHANNEL_NAMES, exact, own } from '../formats.ts';
import { Badge, Fact, Time, type Tone } from '../ui/page-parts.tsx';
import type { IconName } from '../ui/icon.tsx';
import { addressIn, type View } from './addresses.ts';
import { type Conversation, type Nullable, timeOf } from './resources.ts';

/** A row with a time; nothing when the time is missing. */
export function TimeRow({
  name,
  text,
}: {
  readonly name: string;
  readonly text: Nullable<string>;
}) {
  const at = timeOf(text);
  return at === undefined ? null : <Fact name={name}>{exact(at)}</Fact>;
}

/** A row with an id and a link to it; nothing when the id is missing. */
export const LinkedIdRow = (props: {
  readonly name: string;
  readonly view: View;
  readonly shop: string;
  readonly id: Nullable<string>;
}) =>
  props.id ? (
    <Fact name={props.name}>
      <a class="mono" href={addressIn(props.view, props.shop, props.id)}>
        {props.id}
      </a>
    </Fact>
  ) : null;

/** A cell with the time since then; a dash when the time is missing. */
export const TimeCell = ({ at }: { readonly at: number | undefined }) => (
  <td class="nowrap">{at === undefined ? <span class="muted">–</span> : <Time {...{ at }} />}</td>
);

/** The card of one item, beside the messages of its conversation. */
export const BesideMessages = (props: {
  readonly messages: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <div class="message-columns">
    <div class="cards">{props.messages}</div>
    <div class="cards">{props.children}</div>
  </div>
);

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

export function StatusBadge({ status }: { readonly status: Nullable<string> }) {
  if (!status) return <span class="muted">–</span>;
  const [tone, icon, words] = own(STATUS_BADGES, status) ?? (['neutral', 'info', status] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}

/** `Email, started by the customer`; an unknown type is shown as it is. */
export function channelWords({ type, direction }: Conversation): string {
  const known = CHANNELS.find((channel) => channel === type);
  const name = known === undefined ? type.replace(/_/g, ' ') : CHANNEL_NAMES[known];
  if (direction === 'inbound') return `${name}, started by the customer`;
  if (direction === 'outbound') return `${name}, started by the team`;
  return name;
}
