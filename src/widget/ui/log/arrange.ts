import type { Line } from '../../engine/chat.ts';
import { startOfDay } from '../formats.ts';

/** What stands in the log, in order. */
export type Item =
  | { readonly kind: 'day'; readonly key: string; readonly at: number }
  | { readonly kind: 'break'; readonly key: string }
  | {
      readonly kind: 'line';
      readonly key: string;
      readonly line: Line;
      /** Begins a group: lines of one side, written soon after each other. */
      readonly first: boolean;
      /** Ends it, and so shows when it was written and where it is. */
      readonly last: boolean;
    };

const GROUP_GAP_MS = 5 * 60_000;

/** Lines with days and conversations between them, and grouped. */
export function arrange(lines: readonly Line[], breaks: readonly number[]): Item[] {
  const items: Item[] = [];
  const open = [...breaks].sort((a, b) => a - b);
  for (const [i, line] of lines.entries()) {
    const { id: key, at, seq = Infinity } = line;
    const previous = lines[i - 1];
    const isNewDay = !previous || startOfDay(previous.at) !== startOfDay(at);
    let isBroken = false;
    for (; (open[0] ?? Infinity) < seq; open.shift()) isBroken = previous !== undefined;
    const first = isNewDay || isBroken || !together(previous, line);
    const before = items.at(-1);
    if (first && before?.kind === 'line') items[items.length - 1] = { ...before, last: true };
    if (isNewDay) items.push({ kind: 'day', key: `day-${key}`, at });
    if (isBroken) items.push({ kind: 'break', key: `break-${key}` });
    items.push({ kind: 'line', key, line, first, last: i === lines.length - 1 });
  }
  if (lines.length > 0 && open.length > 0) items.push({ kind: 'break', key: 'break' });
  return items;
}

const together = (a: Line, b: Line): boolean =>
  a.from === b.from &&
  b.at - a.at < GROUP_GAP_MS &&
  // A line that has gone wrong or waits says so itself.
  (a.state === 'queued') === (b.state === 'queued') &&
  a.state !== 'failed' &&
  b.state !== 'failed';
