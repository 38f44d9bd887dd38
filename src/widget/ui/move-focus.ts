/**
 * Moves the focus between the buttons of an element with the arrow keys, Home and End. In a single
 * column, the last one is followed by the first.
 */
export function moveFocus(event: KeyboardEvent, columns: number): void {
  const { key, currentTarget } = event;
  const box = currentTarget as HTMLElement;
  const buttons = [...box.querySelectorAll('button')];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const forward = getComputedStyle(box).direction === 'rtl' ? -1 : 1;
  const steps: Record<string, number> = {
    ArrowRight: columns > 1 ? forward : 0,
    ArrowLeft: columns > 1 ? -forward : 0,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: buttons.length - 1 - at,
  };
  const step = steps[key];
  if (step === undefined) return;
  event.preventDefault();
  const count = buttons.length;
  const next = at + step;
  buttons[columns > 1 ? Math.min(count - 1, Math.max(0, next)) : (next + count) % count]?.focus();
}
