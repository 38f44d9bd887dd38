import { useEffect, useRef } from 'preact/hooks';

/** What keys do in the list; `?` shows them. */
export interface ListKeys {
  readonly move: (by: 1 | -1) => void;
  readonly pick: (extend: boolean) => void;
  readonly retry: () => void;
  readonly release: () => void;
  readonly discard: () => void;
  readonly clear: () => void;
  readonly showNew: () => void;
}

/** For the page's list of keys. */
export const LIST_KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', 'k'], 'Next, previous message'],
  [['Enter'], 'Open the message'],
  [['x'], 'Select it; with Shift all up to it'],
  [['r'], 'Retry'],
  [['s'], 'Submit what is held (release)'],
  [['d'], 'Discard'],
  [['n'], 'Show new messages'],
  [['Esc'], 'Clear the selection'],
];

/** Keys work wherever nothing is typed and no dialog is open. */
export function useListKeys(keys: ListKeys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let chordUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isElsewhere(event.target)) return;
      // The second letter of `g d` is a page's.
      const isChord = Date.now() < chordUntil;
      chordUntil = event.key === 'g' ? Date.now() + 1_500 : 0;
      if (isChord || !run(event, current.current)) return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  );
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
