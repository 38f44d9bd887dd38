import { useRef } from 'preact/hooks';
import { useUi } from '../ui.ts';
import type { Line } from '../../engine/chat.ts';
import { Avatar } from '../avatar.tsx';
import { Icon } from '../icon.tsx';
import { arrange } from './arrange.ts';
import { LineRow } from './line.tsx';
import { useScroll } from './scroll.ts';

/** What was said, oldest first; it begins with the greeting. */
export function Log() {
  const { chat, texts, settings, formats } = useUi();
  const lines = chat.lines.value;
  const older = chat.older.value;
  const fresh = useFresh(lines);
  const scroll = useScroll(lines);
  const now = Date.now();
  const hasBeginning = useRef(false);
  hasBeginning.current = older === 'none' || lines.length === 0 || hasBeginning.current;
  if (older === 'some' || older === 'loading') hasBeginning.current = false;

  return (
    <div class="log-frame">
      <div
        ref={scroll.box}
        class="log"
        role="log"
        aria-label={texts.log}
        aria-live={older === 'loading' ? 'off' : 'polite'}
        aria-relevant="additions"
        tabIndex={0}
        onScroll={scroll.onScroll}
      >
        <div ref={scroll.content} class="lines">
          {older === 'loading' && <p class="loading">{texts.loading}</p>}
          {hasBeginning.current && (
            <div class="line" data-from="agent" data-first data-last>
              <Avatar />
              <div class="say" dir="auto">
                {settings.greeting ?? texts.welcome}
              </div>
            </div>
          )}
          {arrange(lines, chat.breaks.value).map((item) => {
            switch (item.kind) {
              case 'day':
                return (
                  <p key={item.key} class="day">
                    {formats.day(item.at, now)}
                  </p>
                );
              case 'break':
                return (
                  <p key={item.key} class="break">
                    <span>{texts.newConversation}</span>
                  </p>
                );
              case 'line':
                return (
                  <LineRow
                    key={item.key}
                    line={item.line}
                    first={item.first}
                    last={item.last}
                    fresh={fresh.has(item.key)}
                  />
                );
            }
          })}
        </div>
      </div>
      {scroll.hasNews && (
        <button type="button" class="news" onClick={scroll.toEnd}>
          <Icon name="down" />
          {texts.newMessages}
        </button>
      )}
    </div>
  );
}

/** Lines that came below what was already there: not the first ones, and not older ones. */
function useFresh(lines: readonly Line[]): ReadonlySet<string> {
  const memory = useRef({ known: new Set<string>(), fresh: new Set<string>(), isBegun: false });
  const { known, fresh, isBegun } = memory.current;
  let isBelow = known.size === 0;
  for (const { id } of lines) {
    if (known.has(id)) isBelow = true;
    else if (isBelow && isBegun) fresh.add(id);
  }
  for (const { id } of lines) known.add(id);
  memory.current.isBegun = true;
  return fresh;
}
