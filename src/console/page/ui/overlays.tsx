import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { asRefusal } from '../api.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/**
 * The browser's modal dialog: it traps the focus, closes with Escape, and restores the focus. A
 * click outside also closes it.
 */
export function Dialog(props: {
  readonly open: boolean;
  readonly title: string;
  readonly look?: 'centre' | 'drawer';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons in the footer. */
  readonly actions?: ComponentChildren;
}) {
  const { open, title, look = 'centre', onClose, children, actions } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key: while the element is open, keys belong to it and not to the list.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (open && dialog?.open === false) dialog.showModal();
    if (!open && dialog?.open === true) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={ref}
      class={`dialog ${look}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {open && (
        <div class="dialog-body">
          <header>
            <h2 id={id}>{title}</h2>
            <Button look="quiet" size="small" icon="close" aria-label="Close" onClick={onClose} />
          </header>
          {children}
          {actions !== undefined && <footer>{actions}</footer>}
        </div>
      )}
    </dialog>
  );
}

interface Toast {
  readonly text: string;
  readonly tone?: 'ok' | 'danger';
  /** A button, such as Undo. */
  readonly action?: { readonly label: string; run(): void };
}

const SHOWN_MS = 6_000;
/** Long enough to reach the button with a keyboard. */
const WITH_ACTION_MS = 15_000;
const MAX_TOASTS = 3;

interface Shown extends Toast {
  readonly id: number;
}
const shown = signal<readonly Shown[]>([]);
let last = 0;

/** Shows a message for a few seconds, also to screen readers. */
export function toast(what: Toast): void {
  const id = (last += 1);
  shown.value = [...shown.value.slice(1 - MAX_TOASTS), { ...what, id }];
  const expire = (): void => {
    // A toast under the pointer or with the focus stays.
    const isInUse = document.querySelector(`[data-toast="${id}"]:is(:hover, :focus-within)`);
    if (isInUse === null) dismiss(id);
    else setTimeout(expire, 1_000);
  };
  setTimeout(expire, what.action === undefined ? SHOWN_MS : WITH_ACTION_MS);
}

function dismiss(id: number): void {
  shown.value = shown.value.filter((one) => one.id !== id);
}

/** Shows an error as a toast; resolves with whether there was none. */
export async function orToast(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toast({ tone: 'danger', text: asRefusal(error).message });
    return false;
  }
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {shown.value.map(({ id, text, tone = 'ok', action }) => (
      <div key={id} class={`toast ${tone}`} data-toast={id}>
        <Icon name={tone === 'ok' ? 'ok' : 'alert'} />
        <p>{text}</p>
        {action !== undefined && (
          <Button
            size="small"
            look="quiet"
            onClick={() => {
              dismiss(id);
              action.run();
            }}
          >
            {action.label}
          </Button>
        )}
        <Button
          size="small"
          look="quiet"
          icon="close"
          aria-label="Dismiss"
          onClick={() => dismiss(id)}
        />
      </div>
    ))}
  </div>
);
