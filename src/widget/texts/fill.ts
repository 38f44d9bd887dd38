/** A text with its `#` filled in. */
export const fill = (text: string, value: string | number): string =>
  // A function, so that nothing in the value is read as a pattern.
  text.replace('#', () => String(value));
