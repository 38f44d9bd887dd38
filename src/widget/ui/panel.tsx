import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Banner, isShutOut } from './banner.tsx';
import { Composer } from './composer.tsx';
import { Header } from './header.tsx';
import { Log } from './log.tsx';
import { focusField } from './focus.ts';
import { isComposing } from './keys.ts';
import { Part } from './part/part.tsx';
import { type Ui, useUi } from './ui.ts';

/** The chat's dialog: header, log and composer. */
export function Panel() {
  const ui = useUi();
  const { chat, texts, settings, isOpen, isFullScreen, takesFocus } = ui;
  const panel = useRef<HTMLDivElement>(null);
  const open = isOpen.value;
  const asks = needsPreChat(ui);
  const canWrite = !asks && !isShutOut(chat.connection.value);
  const drop = useDrop((files) => {
    if (canWrite) chat.attach(files);
  });

  useLayoutEffect(() => {
    if (open && takesFocus.peek() && panel.current) focusField(panel.current);
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
        if (event.key === 'Escape' && !isComposing(event)) {
          keepRelease();
          ui.close();
        }
        if (event.key === 'Tab' && isFullScreen.value) keepFocusWithin(event.currentTarget, event);
      }}
      {...drop.handlers}
    >
      <Header />
      <Banner />
      {asks ? (
        <Part key={ui.forms.value} of="preChat" draw={({ PreChat }) => <PreChat />} />
      ) : (
        <Log />
      )}
      {canWrite && <Composer />}
      {canWrite && drop.isOver && (
        <Part of="files" isQuiet draw={({ DropTarget }) => <DropTarget />} />
      )}
    </div>
  );
}

/** Whether the visitor is asked for name and address before the first message. */
export function needsPreChat({ chat, settings, isIntroduced }: Ui): boolean {
  const isAsked = settings.preChat === 'optional' || settings.preChat === 'required';
  return isAsked && !chat.isKnown && chat.lines.value.length === 0 && !isIntroduced.value;
}

const carriesFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes('Files') ?? false;

/**
 * Handlers for files that are dragged over the panel and dropped on it. The browser never opens them
 * in place of the page.
 */
function useDrop(attach: (files: FileList) => void) {
  const [isOver, setOver] = useState(false);
  // Counted, because `dragenter` of a child is fired before `dragleave` of its parent.
  const depth = useRef(0);
  const count = (event: DragEvent, by: number): void => {
    if (!carriesFiles(event)) return;
    depth.current = Math.max(0, depth.current + by);
    setOver(depth.current > 0);
  };
  return {
    isOver,
    handlers: {
      onDragEnter: (event: DragEvent) => count(event, 1),
      onDragLeave: (event: DragEvent) => count(event, -1),
      onDragOver: (event: DragEvent) => {
        if (carriesFiles(event)) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        if (!carriesFiles(event) || !event.dataTransfer) return;
        event.preventDefault();
        count(event, -depth.current);
        attach(event.dataTransfer.files);
      },
    },
  };
}

/** The key that closes the chat is released on the page, which has the focus again: not its key. */
const keepRelease = (): void =>
  addEventListener('keyup', (event) => event.stopPropagation(), { capture: true, once: true });

const FOCUSABLE = 'a[href],button:not([disabled]),input:not([hidden]),textarea,[tabindex="0"]';

/** Keeps Tab within the panel, which covers the page. */
function keepFocusWithin(panel: HTMLElement, event: KeyboardEvent): void {
  const all = [...panel.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) => element.tabIndex >= 0 && element.checkVisibility(),
  );
  const root = panel.getRootNode() as ShadowRoot;
  const at = all.findIndex((element) => element === root.activeElement);
  const isAtEnd = event.shiftKey ? at <= 0 : at === all.length - 1;
  if (!isAtEnd) return;
  event.preventDefault();
  all.at(event.shiftKey ? -1 : 0)?.focus();
}
