const FOCUSABLE = 'a[href],button:not([disabled]),input:not([hidden]),textarea,[tabindex="0"]';

/** Tab goes round within the panel, as nothing else is on the screen. */
export function keepFocusWithin(panel: HTMLElement, event: KeyboardEvent): void {
  const all = [...panel.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) => element.tabIndex >= 0 && element.checkVisibility(),
  );
  const root = panel.getRootNode() as ShadowRoot;
  const at = all.findIndex((element) => element === root.activeElement);
  const isAtEnd = event.shiftKey ? at <= 0 : at === all.length - 1;
  if (!isAtEnd) return;
  event.preventDefault();
  all.at(event.shiftKey ? -1 : 0)?.focus();
}

/** Moves the focus among siblings with the arrow keys; returns whether the key was one of them. */
export function moveFocus(
  event: KeyboardEvent,
  buttons: readonly HTMLElement[],
  columns: number,
): boolean {
  const root = (event.currentTarget as HTMLElement).getRootNode() as ShadowRoot;
  const at = buttons.findIndex((button) => button === root.activeElement);
  const forward = getComputedStyle(event.currentTarget as HTMLElement).direction === 'rtl' ? -1 : 1;
  const steps: Record<string, number> = {
    ArrowRight: columns > 1 ? forward : 0,
    ArrowLeft: columns > 1 ? -forward : 0,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: buttons.length - 1 - at,
  };
  const step = steps[event.key];
  if (step === undefined) return false;
  event.preventDefault();
  const count = buttons.length;
  const next = at + step;
  buttons[columns > 1 ? Math.min(count - 1, Math.max(0, next)) : (next + count) % count]?.focus();
  return true;
}
