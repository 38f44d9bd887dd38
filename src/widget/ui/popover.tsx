import type { ComponentChild } from 'preact';
import { moveFocus } from './focus.ts';
import type { IconName } from './icon.tsx';
import { Tool } from './tool.tsx';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A button, and what it opens above the rest. */
export function Popover(props: {
  readonly kind: 'menu' | 'dialog';
  readonly class: string;
  readonly icon: IconName;
  readonly label: string;
  /** Of its buttons, for the arrow keys. */
  readonly columns: number;
  readonly content: (close: () => void) => ComponentChild;
}) {
  const { kind, icon, label } = props;
  const { isOpen, toggle, close, box, button, onKeyDown } = usePopover(props.columns);
  return (
    <div class={props.class}>
      <Tool
        icon={icon}
        label={label}
        button={button}
        popup={kind}
        isOpen={isOpen}
        onClick={toggle}
      />
      {isOpen && (
        <div class="popover" role={kind} aria-label={label} ref={box} onKeyDown={onKeyDown}>
          {props.content(close)}
        </div>
      )}
    </div>
  );
}

/**
 * The focus goes into what was opened and, by Escape, back to the button; a press elsewhere closes
 * it. Arrow keys go through its buttons.
 */
function usePopover(columns: number) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const buttons = (): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>('button') ?? []),
  ];
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };

  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    buttons()[0]?.focus();
    const root = box.current?.getRootNode();
    const press = (event: Event): void => {
      const path = event.composedPath();
      if (!path.some((node) => node === box.current || node === button.current)) setOpen(false);
    };
    // In the panel the path has its parts; from outside only the host.
    for (const target of [root, document]) target?.addEventListener('pointerdown', press);
    return () => {
      for (const target of [root, document]) target?.removeEventListener('pointerdown', press);
    };
  }, [isOpen]);

  return {
    isOpen,
    close,
    box,
    button,
    toggle: () => setOpen(!isOpen),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Tab') setOpen(false);
      if (event.key !== 'Escape') return void moveFocus(event, buttons(), columns);
      event.stopPropagation();
      close();
    },
  };
}
