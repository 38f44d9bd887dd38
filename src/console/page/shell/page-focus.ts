/** Puts the focus on the page's heading, so that a screen reader says where one is now. */
export function enterPage(event?: Event): void {
  event?.preventDefault();
  requestAnimationFrame(() => {
    const heading = document.querySelector<HTMLElement>('#content h1');
    heading?.focus({ preventScroll: event === undefined });
  });
}
