import type { ComponentChildren } from 'preact';
import type { Channel, EntryState } from '../../contract.ts';
import { CHANNEL_NAMES, STATE_NAMES } from '../formats.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'ok' | 'warning' | 'danger' | 'accent' | 'neutral';

/** A word with a picture and a colour: never the colour alone. */
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
