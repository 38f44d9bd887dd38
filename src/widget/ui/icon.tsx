import type { Ref } from 'preact';

const PATHS = {
  close: 'M7 7l10 10M17 7L7 17',
  down: 'M6 9.5l6 6 6-6',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  send: 'M12 19V5.5M6 11.2l6-6 6 6',
  attach:
    'M20 11.3l-8.1 8.1a5.2 5.2 0 0 1-7.4-7.4l8.5-8.5a3.5 3.5 0 0 1 5 5l-8.6 8.5a1.7 1.7 0 0 1-2.4-2.4l7.5-7.6',
  emoji: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM8.3 14.2a4.5 4.5 0 0 0 7.4 0M9 9.6v.01M15 9.6v.01',
  file: 'M13.5 3.5H7a1.5 1.5 0 0 0-1.5 1.5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5l-5-5ZM13.5 3.5v5h5',
  alert: 'M12 8v4.5M12 15.8v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  again: 'M19.5 12a7.5 7.5 0 1 1-2.3-5.4L19.5 9M19.5 4.5V9H15',
  clock: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2',
  tick: 'M5 12.5l4.5 4.5L19 7.5',
  ticks: 'M2.5 12.5L7 17l9.5-9.5M11.5 16.5l.5.5 9.5-9.5',
  sound: 'M4.5 9.5v5h3l4.5 4v-13l-4.5 4h-3ZM15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a7.8 7.8 0 0 1 0 11',
  person: 'M12 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM3.5 21a8.5 6.5 0 0 1 17 0Z',
};

export type IconName = keyof typeof PATHS;

/** A decorative icon in the colour of the text. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true" class={`i-${name}`}>
    <path d={PATHS[name]} />
  </svg>
);

/** A button with only an icon; its label is the accessible name and the tooltip. */
export const IconButton = (props: {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly class?: string;
  readonly button?: Ref<HTMLButtonElement>;
  readonly popup?: 'menu' | 'dialog';
  readonly isOpen?: boolean;
}) => (
  <button
    type="button"
    class={props.class ?? 'tool'}
    {...(props.button && { ref: props.button })}
    aria-label={props.label}
    title={props.label}
    aria-haspopup={props.popup}
    aria-expanded={props.isOpen}
    onClick={props.onClick}
  >
    <Icon name={props.icon} />
  </button>
);
