import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Face {
  /** `primary`: the main action; `danger`: destructive; `quiet`: without a frame. */
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  /** Without text, `aria-label` is needed, which is also the tooltip. */
  readonly children?: ComponentChildren;
}

interface ButtonProps extends Face, Omit<ButtonHTMLAttributes, 'icon' | 'size' | 'children'> {
  /** Shows a spinner and ignores clicks; the button keeps the focus. */
  readonly busy?: boolean;
}

export function Button(props: ButtonProps) {
  const { look: _look, size: _size, icon, busy = false, children, ...rest } = props;
  return (
    <button
      type="button"
      title={children === undefined ? rest['aria-label'] : undefined}
      {...rest}
      {...(busy && { 'aria-busy': 'true', 'aria-disabled': 'true', onClick: ignoreClick })}
      class={classOf(props)}
    >
      {busy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

const ignoreClick = (event: Event): void => event.preventDefault();

const classOf = ({ look = 'plain', size = 'normal', children }: Face): string =>
  `button ${look} ${size}${children === undefined ? ' bare' : ''}`;

interface LinkProps extends Face {
  readonly href: string;
  readonly download?: string;
  readonly 'aria-label'?: string;
}

/** A link styled as a button. */
export function ButtonLink(props: LinkProps) {
  const { look: _look, size: _size, icon, children, ...rest } = props;
  return (
    <a title={rest['aria-label']} {...rest} class={classOf(props)}>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </a>
  );
}
