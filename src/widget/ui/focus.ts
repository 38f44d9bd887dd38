export const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches;

/** Focuses what the visitor types in next. On a touch screen that would open the keyboard, which covers the log. */
export function focusField(panel: HTMLElement): void {
  const field = panel.querySelector<HTMLElement>('.pre-chat input, .composer textarea');
  (isTouch() ? panel : (field ?? panel)).focus({ preventScroll: true });
}
