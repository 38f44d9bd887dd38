import { computed, effect, signal } from '@preact/signals';
import { accentOf, type Scheme } from '../../widget/look/accent.ts';

export type SchemeChoice = Scheme | 'system';
const STORED_AS = 'sluice.scheme';

const dark = matchMedia('(prefers-color-scheme: dark)');
const system = signal<Scheme>(dark.matches ? 'dark' : 'light');
dark.addEventListener('change', () => (system.value = dark.matches ? 'dark' : 'light'));

/** What the operator chose, remembered in this browser. */
export const schemeChoice = signal<SchemeChoice>(remembered());
/** What is shown. */
export const scheme = computed<Scheme>(() =>
  schemeChoice.value === 'system' ? system.value : schemeChoice.value,
);

/** A browser may forbid storage, and throws then. */
function remembered(): SchemeChoice {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

export function chooseScheme(choice: SchemeChoice): void {
  schemeChoice.value = choice;
  try {
    localStorage.setItem(STORED_AS, choice);
  } catch {
    // It holds until the page is closed.
  }
}

/** Puts the scheme and the widget's accent, fitted to it, on the document, now and on every change. */
export function applyScheme(): void {
  effect(() => {
    const { style, dataset } = document.documentElement;
    dataset['scheme'] = scheme.value;
    const accent = accentOf(undefined, scheme.value);
    for (const [name, color] of Object.entries(accent)) style.setProperty(`--${name}`, color);
  });
}
