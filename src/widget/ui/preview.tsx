import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { parse } from './line.tsx';
import { textOf } from './rich/plain.ts';
import { useUi } from './ui.ts';

/**
 * The newest unread reply, beside the launcher of a closed chat. It takes no focus, and stays until it is opened,
 * dismissed or read in another tab.
 */
export function Preview() {
  const { chat, texts, settings, isOpen, dismissedSeq, parsers, open } = useUi();
  const isWanted = chat.unread.value > 0 && !isOpen.value;
  const line = isWanted ? chat.lines.value.findLast(({ from }) => from === 'agent') : undefined;
  const { seq = 0 } = line ?? {};
  return (
    <div aria-live="polite">
      {line && seq > dismissedSeq.value && (
        <div class="card preview" key={line.id}>
          <Avatar author={line.author ?? settings.agent} px={32} />
          <button type="button" class="words" onClick={open}>
            <b>
              <bdi>{line.author?.name ?? settings.name ?? texts.title}</bdi>
            </b>
            <span dir="auto">
              {parse(line.text, line.format, parsers.value).map(textOf).join('').trim() ||
                line.files[0]?.name}
            </span>
          </button>
          <button
            type="button"
            class="cross"
            aria-label={texts.dismiss}
            onClick={() => (dismissedSeq.value = seq)}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
