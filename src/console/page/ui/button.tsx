import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'icon'> {
  /** `primary`: the main action; `danger`: destructive; `quiet`: without a frame. */
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  /** Shows a spinner and ignores clicks; the button keeps the focus. */
  readonly busy?: boolean;
  readonly children?: ComponentChildren;
}

/** A button without text needs `aria-label`, which is also its tooltip. */
export function Button(props: ButtonProps) {
  const { look = 'plain', size = 'normal', icon, busy = false, children, ...rest } = props;
  const isBare = children === undefined;
  return (
    <button
      type="button"
      title={isBare ? rest['aria-label'] : undefined}
      {...rest}
      {...(busy && { 'aria-busy': 'true', 'aria-disabled': 'true', onClick: ignoreClick })}
      class={`button ${look} ${size}${isBare ? ' bare' : ''}`}
    >
      {busy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

const ignoreClick = (event: Event): void => event.preventDefault();

/** A link styled as a button. */
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
