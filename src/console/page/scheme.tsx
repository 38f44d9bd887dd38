import { computed, effect, signal } from '@preact/signals';
import { accentOf, type Scheme } from '../../widget/look/accent.ts';
import { mediaSignal } from './media.ts';
import { readStored, store } from './stored.ts';
import { Icon } from './ui/icon.tsx';

type SchemeChoice = Scheme | 'system';
const STORED_AS = 'sluice.scheme';

const isSystemDark = mediaSignal('(prefers-color-scheme: dark)');

/** The operator's choice, stored in this browser. */
const schemeChoice = signal<SchemeChoice>(storedChoice());
/** The scheme in use. */
export const scheme = computed<Scheme>(() => {
  if (schemeChoice.value !== 'system') return schemeChoice.value;
  return isSystemDark.value ? 'dark' : 'light';
});

function storedChoice(): SchemeChoice {
  const stored = readStored(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function chooseScheme(choice: SchemeChoice): void {
  schemeChoice.value = choice;
  store(STORED_AS, choice);
}

/** Sets the scheme and its accent colours on the document, now and on every change. */
export function applyScheme(): void {
  effect(() => {
    const { style, dataset } = document.documentElement;
    dataset['scheme'] = scheme.value;
    const accent = accentOf(undefined, scheme.value);
    for (const [name, color] of Object.entries(accent)) style.setProperty(`--${name}`, color);
  });
}

const CHOICES: readonly (readonly [SchemeChoice, string])[] = [
  ['system', 'Same as system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export const SchemeSwitch = () => (
  <div class="scheme-switch" role="group" aria-label="Colours">
    {CHOICES.map(([choice, label]) => (
      <button
        key={choice}
        type="button"
        aria-pressed={schemeChoice.value === choice}
        aria-label={label}
        title={label}
        onClick={() => chooseScheme(choice)}
      >
        <Icon name={choice} />
      </button>
    ))}
  </div>
);
