import { useUi, view } from '../view.ts';
import { Tool } from '../tool.tsx';
import { usePopover } from '../popover.ts';

/** What people use most in a conversation with a shop. A screen reader knows their names. */
const EMOJI = [
  ...new Intl.Segmenter().segment(
    '😀😄😅😂🙂😉😊😍😎🤔😐😢😭😱🥳😴👍👎👌🙏👏🙌👋🤝✌️❤️💔🔥🎉🎁✅❌⚠️❓⏰📦🚚💳💡☕',
  ),
].map(({ segment }) => segment);
const COLUMNS = 8;

export const EmojiPicker = view(({ onPick }: { readonly onPick: (emoji: string) => void }) => {
  const { texts } = useUi();
  const popover = usePopover(COLUMNS);
  return (
    <div class="emoji">
      <Tool
        icon="emoji"
        label={texts.emoji}
        button={popover.button}
        popup="dialog"
        isOpen={popover.isOpen}
        onClick={popover.toggle}
      />
      {popover.isOpen && (
        <div
          class="popover"
          role="dialog"
          aria-label={texts.emoji}
          ref={popover.box}
          onKeyDown={popover.onKeyDown}
        >
          {EMOJI.map((emoji, i) => (
            <button
              key={emoji}
              type="button"
              tabIndex={i === 0 ? 0 : -1}
              onClick={() => {
                popover.close();
                onPick(emoji);
              }}
            >
              {emoji}
            </button>
          ))}
        </div>
      )}
    </div>
  );
});
