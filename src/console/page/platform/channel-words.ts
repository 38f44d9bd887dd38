import { CHANNEL_NAMES, CHANNELS } from '../formats.ts';
import type { Conversation } from './resources.ts';

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
