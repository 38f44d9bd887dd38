import type { Line } from '../engine/chat.ts';
import type { Ui } from './ui.ts';

/** The visitor's last line in the conversation that goes on. */
export function lastOwnLine({ chat }: Ui): Line | undefined {
  const begin = Math.max(0, ...chat.breaks.value);
  return chat.lines.value.findLast(({ from, seq = 0 }) => from === 'visitor' && seq > begin);
}

/** Identifies the visitor's latest message; changes when they write, and with another visitor. */
export function lastWords({ chat }: Ui): string {
  const last = chat.lines.value.findLast(({ from }) => from === 'visitor');
  return `${chat.session.value?.visitorId} ${last?.id}`;
}
