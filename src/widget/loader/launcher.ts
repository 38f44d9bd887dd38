import { button, el, icon } from './dom.ts';

const BUBBLE =
  'M12 3.5c-5 0-9 3.5-9 7.8 0 2.2 1 4.1 2.8 5.6.1 1.2-.4 2.3-1.2 3.2a.5.5 0 0 0 .4.8c1.9-.1 3.5-.8 4.6-1.8.8.2 1.6.3 2.4.3 5 0 9-3.6 9-8.1 0-4.3-4-7.8-9-7.8Z';
const CHEVRON = 'M5.5 9l6.5 6.5L18.5 9';

/** The round button in the corner of the page. */
export function createLauncher(openLabel: string) {
  const badge = el('span', { class: 'badge', 'aria-hidden': 'true' });
  const launcher = button(
    { class: 'launcher' },
    icon('bubble', BUBBLE),
    icon('chevron', CHEVRON),
    badge,
  );
  return {
    launcher,
    /** @param label what it does now, and what is unread; the panel's words, once it is there */
    draw: (open: boolean, unread: number, label = openLabel): void => {
      launcher.setAttribute('aria-expanded', String(open));
      launcher.setAttribute('aria-label', label);
      badge.textContent = String(unread);
      badge.hidden = open || unread === 0;
    },
  };
}
