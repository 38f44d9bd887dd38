import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type IconName, IconButton } from './icon.tsx';
import { useUi } from './ui.ts';

/** A button, and the popover that it opens. */
export function Popover(props: {
  readonly kind: 'menu' | 'dialog';
  readonly class: string;
  readonly icon: IconName;
  readonly label: string;
  /** It takes the focus when it is drawn, and moves it with the arrow keys. */
  readonly content: (close: () => void) => ComponentChild;
}) {
  const { kind, icon, label } = props;
  const { isOpen, toggle, close, box, button, onKeyDown } = usePopover();
  return (
    // On the button too, which has the focus until the content is loaded.
    <div class={props.class} onKeyDown={isOpen ? onKeyDown : undefined}>
      <IconButton
        icon={icon}
        label={label}
        button={button}
        popup={kind}
        isOpen={isOpen}
        onClick={toggle}
      />
      {isOpen && (
        <div class="popover" role={kind} aria-label={label} ref={box}>
          {props.content(close)}
        </div>
      )}
    </div>
  );
}

/**
 * Its content takes the focus once it is loaded, and Escape returns it to the button; a press elsewhere
 * closes the popover.
 */
function usePopover() {
  const { isOpen: isPanelOpen } = useUi();
  const [isWanted, setOpen] = useState(false);
  // It closes with the panel.
  const isOpen = isWanted && isPanelOpen.value;
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };

  useLayoutEffect(() => {
    if (!isOpen) {
      setOpen(false);
      return undefined;
    }
    const root = box.current?.getRootNode();
    const press = (event: Event): void => {
      const path = event.composedPath();
      if (!path.some((node) => node === box.current || node === button.current)) setOpen(false);
    };
    // Within the shadow root the event's path has the panel's elements; outside, only the host.
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
      // From the button, Tab moves into the popover.
      if (event.key === 'Tab' && box.current?.contains(event.target as Node)) setOpen(false);
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      // Nor is it a close request for the panel (`closeOnBack`).
      event.preventDefault();
      close();
    },
  };
}
