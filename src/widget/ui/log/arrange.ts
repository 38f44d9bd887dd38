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
  let previous: Line | undefined;
  for (const [i, line] of lines.entries()) {
    const isBroken = passes(open, line.seq ?? Infinity, previous !== undefined);
    const isNewDay = !previous || startOfDay(previous.at) !== startOfDay(line.at);
    if (isNewDay) items.push({ kind: 'day', key: `day-${line.id}`, at: line.at });
    if (isBroken) items.push({ kind: 'break', key: `break-${line.id}` });
    const next = lines[i + 1];
    items.push({
      kind: 'line',
      key: line.id,
      line,
      first: isNewDay || isBroken || !previous || !together(previous, line),
      last:
        !next ||
        startOfDay(next.at) !== startOfDay(line.at) ||
        open.some((seq) => seq < (next.seq ?? Infinity)) ||
        !together(line, next),
    });
    previous = line;
  }
  if (previous && open.some((seq) => seq >= (previous.seq ?? Infinity)))
    items.push({ kind: 'break', key: 'break' });
  return items;
}

/** Whether a conversation began before the line of this number; what is passed is done with. */
function passes(open: number[], seq: number, isBetween: boolean): boolean {
  let passed = false;
  while (open[0] !== undefined && open[0] < seq) {
    open.shift();
    passed = true;
  }
  return passed && isBetween;
}

const together = (a: Line, b: Line): boolean =>
  a.from === b.from &&
  b.at - a.at < GROUP_GAP_MS &&
  // A line that has gone wrong or waits says so itself.
  isSettled(a) === isSettled(b) &&
  a.state !== 'failed';

const isSettled = (line: Line): boolean =>
  line.state === 'accepted' || line.state === 'delivered' || line.state === 'sending';
