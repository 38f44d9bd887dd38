import type { ComponentChildren, InputHTMLAttributes, Ref, SelectHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface FieldProps {
  readonly label: string;
  /** Shows the label to screen readers only. */
  readonly quietLabel?: boolean;
  readonly hint?: ComponentChildren;
  readonly fault?: string | undefined;
}

export interface InputProps extends FieldProps, Omit<InputHTMLAttributes, 'label' | 'type' | 'id'> {
  readonly type?: string;
  readonly inputRef?: Ref<HTMLInputElement>;
}

export function Input({ label, quietLabel, hint, fault, inputRef, ...rest }: InputProps) {
  const id = useId();
  const note = fault ?? hint;
  return (
    <div class="field">
      <label for={id} class={quietLabel ? 'sr' : undefined}>
        {label}
      </label>
      <input
        {...(rest as object)}
        id={id}
        ref={inputRef ?? null}
        aria-invalid={fault !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
      />
      {note !== undefined && (
        <p id={`${id}-note`} class={fault === undefined ? 'hint' : 'fault'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** The page's search field; the key `/` moves the focus to it. */
export const SearchInput = (props: Omit<InputProps, 'type' | 'quietLabel'>) => (
  <div class="search" role="search">
    <Icon name="search" />
    <Input {...props} type="search" quietLabel autocomplete="off" spellcheck={false} data-search />
    <kbd aria-hidden="true">/</kbd>
  </div>
);

export interface SelectProps
  extends FieldProps, Omit<SelectHTMLAttributes, 'label' | 'id' | 'onChange' | 'value'> {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChoose: (value: string) => void;
}

export function Select(props: SelectProps) {
  const { label, quietLabel, hint, fault, options, value, onChoose, ...rest } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={quietLabel ? 'sr' : undefined}>
        {label}
      </label>
      <div class="select">
        <select
          {...(rest as object)}
          id={id}
          value={value}
          onChange={(event) => onChoose(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {fault !== undefined && <p class="fault">{fault}</p>}
    </div>
  );
}
