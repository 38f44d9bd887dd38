import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../icon.tsx';
import { moveFocus } from '../move-focus.ts';
import { lastOwnLine, lastWords } from '../own-words.ts';
import { useUi } from '../ui.ts';
import { saveTranscript } from './transcript.ts';

/** @param close closes the menu, which returns the focus to its button */
export function MenuItems({ close }: { readonly close: () => void }) {
  const ui = useUi();
  const { chat, texts, hasSound, ending, playChime } = ui;
  const box = useRef<HTMLDivElement>(null);
  const isLoud = hasSound.value;

  useLayoutEffect(() => {
    box.current?.querySelector('button')?.focus();
  }, []);

  const toggleSound = (): void => {
    hasSound.value = !isLoud;
    if (!isLoud) playChime();
  };
  const choose = (action: () => void | Promise<void>) => () => {
    close();
    void action();
  };
  return (
    <div ref={box} role="none" onKeyDown={(event) => moveFocus(event, 1)}>
      {lastOwnLine(ui) && (
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={choose(() => {
            ending.value = { after: lastWords(ui), isRated: false };
          })}
        >
          <Icon name="tick" />
          {texts.endConversation}
        </button>
      )}
      {chat.lines.value.length > 0 && (
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={choose(() => saveTranscript(ui))}
        >
          <Icon name="file" />
          {texts.transcript}
        </button>
      )}
      <button
        type="button"
        role="menuitemcheckbox"
        tabIndex={-1}
        aria-checked={isLoud}
        onClick={choose(toggleSound)}
      >
        <Icon name="sound" />
        {texts.sound}
        {isLoud && <Icon name="tick" />}
      </button>
    </div>
  );
}
