import type { EntryAction } from '../../contract.ts';
import { useChord, useKeys } from '../ui/keys.ts';

/** What the keys in the list do; `?` lists them. */
export interface ListKeys {
  readonly move: (by: 1 | -1) => void;
  readonly pick: (extend: boolean) => void;
  readonly act: (action: EntryAction) => void;
  readonly clear: () => void;
  readonly showNew: () => void;
}

/** The entries of the shortcut list. */
export const LIST_KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', 'k'], 'Next, previous message'],
  [['Enter'], 'Open the message'],
  [['x'], 'Select the message; with Shift, a range'],
  [['r'], 'Retry'],
  [['s'], 'Release (submit)'],
  [['d'], 'Discard'],
  [['n'], 'Show new messages'],
  [['Esc'], 'Clear the selection'],
];

/** Enables the keys. */
export function useListKeys(keys: ListKeys): void {
  const isSecond = useChord();
  useKeys((event) => {
    if (isSecond(event)) return false;
    const run = runOf(event, keys);
    run?.();
    return run !== undefined;
  });
}

function runOf({ key, shiftKey, target }: KeyboardEvent, keys: ListKeys): (() => void) | undefined {
  const next = () => keys.move(1);
  const previous = () => keys.move(-1);
  const pick = () => keys.pick(shiftKey);
  const isInList = target instanceof HTMLElement && target.closest('.entry') !== null;
  const runs: Readonly<Record<string, () => void>> = {
    ...{ j: next, k: previous, x: pick, X: pick, n: keys.showNew, Escape: keys.clear },
    ...(isInList && { ArrowDown: next, ArrowUp: previous }),
    r: () => keys.act('retry'),
    s: () => keys.act('release'),
    d: () => keys.act('discard'),
  };
  return runs[key];
}
