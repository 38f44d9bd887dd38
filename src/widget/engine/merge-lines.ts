import type { Line } from './chat.ts';
import type { OutboxItem } from './outbox-item.ts';

/**
 * The conversation as it is shown: the numbered lines, then what is still on its way. A message
 * that is in both is shown once, as the numbered line it has become.
 * @param sending the item that is with the server now
 */
export function mergeLines(
  numbered: readonly Line[],
  outbox: readonly OutboxItem[],
  sending: string | undefined,
): readonly Line[] {
  if (outbox.length === 0) return numbered;
  const own = new Set(numbered.flatMap(({ id, from }) => (from === 'visitor' ? id : [])));
  const waiting = outbox.filter(({ id }) => !own.has(id));
  const acknowledged = waiting.filter(({ seq }) => seq !== undefined);
  acknowledged.sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
  const queued = waiting.filter(({ seq }) => seq === undefined);
  // The browser's clock may be anywhere: no line is dated before the one above it.
  let latest = numbered.at(-1)?.at ?? 0;
  return [
    ...numbered,
    ...[...acknowledged, ...queued].map((item) => {
      latest = Math.max(latest, item.at);
      return lineOf(item, latest, sending);
    }),
  ];
}

function lineOf(item: OutboxItem, at: number, sending: string | undefined): Line {
  const { id, text, files, error, retryAt } = item;
  const state = stateOf(item, sending);
  return {
    ...{ id, from: 'visitor', text, format: 'TEXT', files, at, state },
    ...(error !== undefined && { error }),
    ...(retryAt !== undefined && state === 'queued' && { retryAt }),
  };
}

function stateOf({ id, error, seq }: OutboxItem, sending: string | undefined): Line['state'] {
  if (seq !== undefined) return 'accepted';
  if (error !== undefined) return 'failed';
  return id === sending ? 'sending' : 'queued';
}
