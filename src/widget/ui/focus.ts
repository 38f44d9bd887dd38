/** Focuses what the visitor types in next. On a touch screen that would open the keyboard, which covers the log. */
export function focusField(panel: HTMLElement): void {
  const isTouch = matchMedia('(pointer: coarse)').matches;
  const field = panel.querySelector<HTMLElement>('.pre-chat input, .composer textarea');
  (isTouch ? panel : (field ?? panel)).focus({ preventScroll: true });
}
