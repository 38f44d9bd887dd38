import { chooseScheme, schemeChoice, type SchemeChoice } from '../scheme.ts';
import { Icon } from '../ui/icon.tsx';

const CHOICES: readonly (readonly [SchemeChoice, string])[] = [
  ['system', 'As the system'],
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
