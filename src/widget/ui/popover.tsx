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
  /** The columns of its buttons, for the arrow keys. */
  readonly columns: number;
  /** It takes the focus when it is drawn. */
  readonly content: (close: () => void) => ComponentChild;
}) {
  const { kind, icon, label } = props;
  const { isOpen, toggle, close, box, button, onKeyDown } = usePopover(props.columns);
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
 * closes the popover. The arrow keys move between its buttons.
 */
function usePopover(columns: number) {
  const { isOpen: isPanelOpen } = useUi();
  const [isWanted, setOpen] = useState(false);
  // It closes with the panel.
  const isOpen = isWanted && isPanelOpen.value;
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
      if (event.key === 'Tab') setOpen(false);
      if (event.key !== 'Escape') return void moveFocus(event, buttons(), columns);
      event.stopPropagation();
      close();
    },
  };
}

/** Moves the focus between buttons with the arrow keys, Home and End. */
function moveFocus(
  event: KeyboardEvent,
  buttons: readonly HTMLElement[],
  columns: number,
): boolean {
  const root = (event.currentTarget as HTMLElement).getRootNode() as ShadowRoot;
  const at = buttons.findIndex((button) => button === root.activeElement);
  const forward = getComputedStyle(event.currentTarget as HTMLElement).direction === 'rtl' ? -1 : 1;
  const steps: Record<string, number> = {
    ArrowRight: columns > 1 ? forward : 0,
    ArrowLeft: columns > 1 ? -forward : 0,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: buttons.length - 1 - at,
  };
  const step = steps[event.key];
  if (step === undefined) return false;
  event.preventDefault();
  const count = buttons.length;
  const next = at + step;
  buttons[columns > 1 ? Math.min(count - 1, Math.max(0, next)) : (next + count) % count]?.focus();
  return true;
}
