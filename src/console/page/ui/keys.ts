import { useLayoutEffect, useRef } from 'preact/hooks';

/** Elements that handle keys themselves: form fields except checkboxes, and editable content. */
const TYPING = 'input:not([type=checkbox]), textarea, select, [contenteditable]';

/**
 * Calls the function with each key that is pressed, except with Ctrl, Alt or Meta, while typing, or
 * while a dialog is open. It returns whether it used the key.
 */
export function useKeys(use: (event: KeyboardEvent) => boolean): void {
  const current = useRef(use);
  current.current = use;
  // As soon as the page is shown, before it is painted.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof HTMLElement && event.target.matches(TYPING)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (current.current(event)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** How long after `g` the second key of a shortcut is accepted. */
const CHORD_MS = 1_500;

/** Tells of each key, in the order they are pressed, whether it follows a `g`: `g d` opens a page. */
export function useChord(): (event: KeyboardEvent) => boolean {
  const until = useRef(0);
  return ({ key }) => {
    const isSecond = Date.now() < until.current;
    until.current = key === 'g' ? Date.now() + CHORD_MS : 0;
    return isSecond;
  };
}
