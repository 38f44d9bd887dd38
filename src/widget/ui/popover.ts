import { useEffect, useElement, useState } from './view.ts';
import { moveFocus } from './focus.ts';

/**
 * Something that a button opens above the rest: the focus goes into it and, by Escape, back to the
 * button; a press elsewhere closes it. Arrow keys go through its buttons.
 */
export function usePopover(columns: number) {
  const [isOpen, setOpen] = useState(false);
  const box = useElement<HTMLDivElement>();
  const button = useElement<HTMLButtonElement>();
  const buttons = (): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>('button') ?? []),
  ];
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
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
