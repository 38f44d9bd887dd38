import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'icon'> {
  /** `primary`: the one thing to do here; `danger`: what cannot be taken back; `quiet`: no frame. */
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  /** Turns the icon and takes no click, but keeps the focus. */
  readonly busy?: boolean;
  readonly children?: ComponentChildren;
}

/** A button without words needs `aria-label`, which is its tooltip too. */
export function Button(props: ButtonProps) {
  const { look = 'plain', size = 'normal', icon, busy = false, children, ...rest } = props;
  const isBare = children === undefined;
  return (
    <button
      type="button"
      title={isBare ? rest['aria-label'] : undefined}
      {...rest}
      {...(busy && { 'aria-busy': 'true', 'aria-disabled': 'true', onClick: swallow })}
      class={`button ${look} ${size}${isBare ? ' bare' : ''}`}
    >
      {busy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

const swallow = (event: Event): void => event.preventDefault();

/** A link that looks like a button. */
export const ButtonLink = (props: {
  readonly href: string;
  readonly look?: ButtonProps['look'];
  readonly size?: ButtonProps['size'];
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}) => (
  <a href={props.href} class={`button ${props.look ?? 'plain'} ${props.size ?? 'normal'}`}>
    {props.icon && <Icon name={props.icon} />}
    <span>{props.children}</span>
  </a>
);
