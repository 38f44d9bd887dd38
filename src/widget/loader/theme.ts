import { accentOf } from '../look/accent.ts';
import type { Settings } from '../settings.ts';

/** Sets language, direction, side, scheme and accent; the scheme follows the visitor's system. */
export function dress(frame: HTMLElement, settings: Settings): void {
  const { language, locale, position, scheme = '', color } = settings;
  frame.lang = locale;
  frame.dir = language === 'ar' ? 'rtl' : 'ltr';
  frame.dataset['position'] = position === 'left' ? position : 'right';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const draw = (): void => {
    const isDark = scheme === 'dark' || (scheme !== 'light' && dark.matches);
    const shown = isDark ? 'dark' : 'light';
    frame.dataset['scheme'] = shown;
    const accent = Object.entries(accentOf(color, shown));
    for (const [name, value] of accent) frame.style.setProperty(`--${name}`, value);
  };
  draw();
  dark.onchange = draw;
}
