import type { ComponentProps, InputHTMLAttributes, Ref } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface InputProps extends Omit<InputHTMLAttributes, 'label' | 'type' | 'id'> {
  readonly label: string;
  /** Otherwise the label is for screen readers only. */
  readonly showLabel?: boolean;
  readonly hint?: string;
  readonly type?: string;
  readonly inputRef?: Ref<HTMLInputElement>;
}

export function Input({ label, showLabel = false, hint, inputRef, ...rest }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={showLabel ? undefined : 'sr'}>
        {label}
      </label>
      <input
        {...(rest as object)}
        id={id}
        ref={inputRef ?? null}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** The page's search field; the key `/` moves the focus to it. */
export const SearchInput = (props: Omit<InputProps, 'type'>) => (
  <div class="search" role="search">
    <Icon name="search" />
    <Input {...props} type="search" autocomplete="off" spellcheck={false} data-search />
    <kbd aria-hidden="true">/</kbd>
  </div>
);

/** A choice of one option. */
export function Select(props: {
  readonly label: string;
  /** Otherwise the label is for screen readers only. */
  readonly showLabel?: boolean;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChoose: (value: string) => void;
}) {
  const { label, showLabel = false, options, value, onChoose } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={showLabel ? undefined : 'sr'}>
        {label}
      </label>
      <div class="select">
        <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </div>
  );
}

/** A form that the page handles; `onSubmit` reads the fields by their names. */
export const Form = ({
  onSubmit,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit'> & {
  readonly onSubmit: (valueOf: (name: string) => string) => void;
}) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault();
      // Password managers may fill the form without an input event.
      const data = new FormData(event.currentTarget);
      onSubmit((name) => {
        const value = data.get(name);
        return typeof value === 'string' ? value : '';
      });
    }}
  />
);
