import { effect } from '@preact/signals-core';
import type { Ui } from './ui.ts';

/** The same as in the style sheets. */
const SMALL = '(max-width: 480px), (max-height: 460px)';

/**
 * On a small screen the open panel is the screen: the page behind it does not scroll, and the
 * panel is as high as what the keyboard leaves of it.
 */
export function coverScreen(place: HTMLElement, { isOpen, isFullScreen }: Ui): void {
  const small = matchMedia(SMALL);
  const visual = window.visualViewport;
  const page = document.documentElement;
  const fit = (): void => {
    if (!visual || visual.scale > 1.01) return;
    place.style.setProperty('--top', `${visual.offsetTop}px`);
    place.style.setProperty('--height', `${visual.height}px`);
  };
  const measure = (): void => {
    isFullScreen.value = small.matches;
    fit();
  };
  let overflow: string | undefined;
  small.addEventListener('change', measure);
  visual?.addEventListener('resize', fit);
  visual?.addEventListener('scroll', fit);
  measure();
  effect(() => {
    const covers = isOpen.value && isFullScreen.value;
    if (covers && overflow === undefined) {
      overflow = page.style.overflow;
      page.style.overflow = 'hidden';
    } else if (!covers && overflow !== undefined) {
      page.style.overflow = overflow;
      overflow = undefined;
    }
  });
}
