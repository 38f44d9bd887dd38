/** What belongs to the chat. Pointer, touch, wheel and click pass. */
const OWN_EVENTS =
  'keydown keypress keyup beforeinput input change compositionstart compositionupdate compositionend copy cut paste focusin focusout drag dragstart dragend dragenter dragover dragleave drop';
const ACTIVITY_EVERY_MS = 60_000;

/**
 * Stops these events at the host: shortcuts, carousels and focus traps of the page neither see nor
 * take them. For a page that logs out the idle, the host dispatches `sluice:activity` while someone
 * types, at most once a minute.
 */
export function keepEvents(host: HTMLElement): void {
  let nextAt = 0;
  const keep = (event: Event): void => {
    event.stopPropagation();
    if (event.type !== 'input' || event.timeStamp < nextAt) return;
    nextAt = event.timeStamp + ACTIVITY_EVERY_MS;
    host.dispatchEvent(new Event('sluice:activity', { bubbles: true }));
  };
  for (const type of OWN_EVENTS.split(' ')) host.addEventListener(type, keep);
}

const MAX_RETURNS = 3;
const RETURNS_WITHIN_MS = 10_000;

/**
 * Puts the host after the body, which a page may replace, transform or filter. When a framework has
 * removed the host, it comes back as it was: at most three times in ten seconds, then at the next
 * navigation. `data-sluice="off"` on the page's root takes it away.
 * @param onChange an attribute of the root may have changed
 */
export function keepOnPage(host: HTMLElement, removed: AbortSignal, onChange: () => void): void {
  let { body } = document;
  // The first placing is no return.
  let returnsLeft = MAX_RETURNS + 1;
  const look = (): void => {
    const { documentElement: root } = document;
    if (removed.aborted) {
      observer.disconnect();
      return;
    }
    // Each time, because the root may be another one.
    observer.observe(root, { attributes: true, childList: true });
    onChange();
    // Turbo and Astro replace the body when they navigate.
    if (body !== document.body) returnsLeft = MAX_RETURNS;
    body = document.body;
    if (root.dataset['sluice'] === 'off') {
      host.remove();
      returnsLeft = MAX_RETURNS;
    } else if (!host.matches(':root > body ~ *')) {
      if (returnsLeft-- > 0) {
        root.append(host);
        setTimeout(() => (returnsLeft = Math.min(returnsLeft + 1, MAX_RETURNS)), RETURNS_WITHIN_MS);
      } else {
        returnsLeft = -Infinity;
      }
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true });
  look();
}
