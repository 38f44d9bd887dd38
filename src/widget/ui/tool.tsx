import type { Ref } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** A button that is only a picture: its name is read out, and shown to a resting pointer. */
export const Tool = (props: {
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
