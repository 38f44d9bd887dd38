import { Avatar } from '../avatar.tsx';
import { Icon } from '../icon.tsx';
import { wordsOf } from '../rich/words.ts';
import { useUi } from '../ui.ts';

export { lend } from '../part/lent.ts';
export { default as css } from './preview.css?inline';

/**
 * The newest unread reply, beside the launcher of a closed chat. It takes no focus, and stays until
 * it is opened, dismissed or read in another tab.
 */
export function Preview() {
  const ui = useUi();
  const { chat, texts, settings, dismissedSeq, open } = ui;
  const line = chat.lines.value.findLast(({ from }) => from === 'agent');
  const { seq = 0 } = line ?? {};
  if (!line || seq <= dismissedSeq.value) return null;
  return (
    <div class="card preview" key={line.id}>
      <Avatar author={line.author ?? settings.agent} px={32} />
      <button type="button" class="words" onClick={open}>
        <b>
          <bdi>{line.author?.name ?? settings.name ?? texts.title}</bdi>
        </b>
        <span dir="auto">{wordsOf(line, ui) || line.files[0]?.name}</span>
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
  );
}
