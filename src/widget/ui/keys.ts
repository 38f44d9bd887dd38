/**
 * Whether the key belongs to a composition, as of Japanese or Chinese. Safari marks the Enter that ends
 * one only by its code.
 */
export const isComposing = (event: KeyboardEvent): boolean =>
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else tells it in Safari
  event.isComposing || event.keyCode === 229;
