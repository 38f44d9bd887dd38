import { useLayoutEffect, useRef } from 'preact/hooks';
import { useUi } from './ui.ts';
import { Banner } from './banner.tsx';
import { Composer } from './composer/composer.tsx';
import { useDrop } from './drop.ts';
import { keepFocusWithin } from './focus.ts';
import { Header } from './header.tsx';
import { Log } from './log/log.tsx';
import { PreChat, needsPreChat } from './pre-chat.tsx';
import { isShutOut } from './refusal.ts';

/** The dialog: who one talks with, what was said, and where one writes. */
export function Panel() {
  const ui = useUi();
  const { chat, texts, settings, isOpen, isFullScreen } = ui;
  const panel = useRef<HTMLDivElement>(null);
  const drop = useDrop((files) => chat.attach(files));
  const open = isOpen.value;
  const asks = needsPreChat(ui);
  const shutOut = isShutOut(chat.connection.value);

  useLayoutEffect(() => {
    if (open && panel.current) focusFirst(panel.current);
  }, [open, asks]);

  return (
    <div
      ref={panel}
      class="panel"
      role="dialog"
      aria-label={settings.name ?? texts.title}
      aria-modal={isFullScreen.value}
      tabIndex={-1}
      inert={!open}
      data-open={open}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.isComposing) ui.close();
        if (event.key === 'Tab' && isFullScreen.value) keepFocusWithin(event.currentTarget, event);
      }}
      {...(asks || shutOut ? {} : drop.handlers)}
    >
      <Header />
      <Banner />
      {asks ? <PreChat /> : <Log />}
      {!asks && !shutOut && <Composer />}
      {drop.isOver && (
        <div class="drop">
          <p>{texts.drop}</p>
        </div>
      )}
    </div>
  );
}

/** A keyboard on a touch screen would hide what the visitor came to read. */
function focusFirst(panel: HTMLElement): void {
  const isTouch = matchMedia('(pointer: coarse)').matches;
  const field = panel.querySelector<HTMLElement>('input:not([type=file]), textarea');
  (isTouch ? panel : (field ?? panel)).focus({ preventScroll: true });
}
