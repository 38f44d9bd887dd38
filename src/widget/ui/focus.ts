export const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches;

/** Focuses what the visitor types in next. On a touch screen that would open the keyboard, which covers the log. */
export function focusField(panel: HTMLElement): void {
  const field = panel.querySelector<HTMLElement>('.pre-chat input, .composer textarea');
  (isTouch() ? panel : (field ?? panel)).focus({ preventScroll: true });
}

/**
 * @returns to be called once the form has been sent, and is gone perhaps: the focus goes on, unless
 *   something else has it
 */
export function leaving(form: HTMLElement | null): () => void {
  const panel = form?.closest<HTMLElement>('.panel');
  return () => {
    const isLost = document.activeElement === document.body;
    if (panel && (isLost || form?.matches(':focus-within'))) focusField(panel);
  };
}
