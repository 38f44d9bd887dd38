import { useUi } from '../ui.ts';
import { Popover } from '../popover.tsx';

/** What people use most in a conversation with a shop. A screen reader knows their names. */
const EMOJI = [
  ...new Intl.Segmenter().segment(
    '😀😄😅😂🙂😉😊😍😎🤔😐😢😭😱🥳😴👍👎👌🙏👏🙌👋🤝✌️❤️💔🔥🎉🎁✅❌⚠️❓⏰📦🚚💳💡☕',
  ),
].map(({ segment }) => segment);
const COLUMNS = 8;

export function EmojiPicker({ onPick }: { readonly onPick: (emoji: string) => void }) {
  return (
    <Popover
      kind="dialog"
      class="emoji"
      icon="emoji"
      label={useUi().texts.emoji}
      columns={COLUMNS}
      content={(close) =>
        EMOJI.map((emoji, i) => (
          <button
            key={emoji}
            type="button"
            tabIndex={i === 0 ? 0 : -1}
            onClick={() => {
              close();
              onPick(emoji);
            }}
          >
            {emoji}
          </button>
        ))
      }
    />
  );
}
