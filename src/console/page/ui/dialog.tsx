import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

/**
 * The browser's own modal dialog: it keeps the focus, ends with Escape, and gives the focus back.
 * A click beside it closes it too.
 */
export function Dialog(props: {
  readonly open: boolean;
  readonly title: string;
  readonly look?: 'centre' | 'drawer';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons, at the end. */
  readonly actions?: ComponentChildren;
}) {
  const { open, title, look = 'centre', onClose, children, actions } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
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
