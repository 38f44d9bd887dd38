import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether a media query matches, as a signal. */
export function mediaSignal(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener('change', () => (matches.value = media.matches));
  return matches;
}

/** The style sheets have the same limit. */
export const isPhone = mediaSignal('(max-width: 720px)');
