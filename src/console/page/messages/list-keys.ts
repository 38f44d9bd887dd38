import { useChord, useKeys } from '../ui/keys.ts';

/** The actions of keys in the list; `?` lists them. */
export interface ListKeys {
  readonly move: (by: 1 | -1) => void;
  readonly pick: (extend: boolean) => void;
  readonly retry: () => void;
  readonly release: () => void;
  readonly discard: () => void;
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
  useKeys((event) => !isSecond(event) && run(event, keys));
}

function run(event: KeyboardEvent, keys: ListKeys): boolean {
  const isInList = event.target instanceof HTMLElement && event.target.closest('.entry') !== null;
  switch (event.key) {
    case 'j':
    case 'k':
      keys.move(event.key === 'j' ? 1 : -1);
      return true;
    case 'ArrowDown':
    case 'ArrowUp':
      if (!isInList) return false;
      keys.move(event.key === 'ArrowDown' ? 1 : -1);
      return true;
    case 'x':
    case 'X':
      keys.pick(event.shiftKey);
      return true;
    case 'r':
      keys.retry();
      return true;
    case 's':
      keys.release();
      return true;
    case 'd':
      keys.discard();
      return true;
    case 'n':
      keys.showNew();
      return true;
    case 'Escape':
      keys.clear();
      return true;
    default:
      return false;
  }
}
