import { useLayoutEffect, useRef } from 'preact/hooks';
import { useUi } from './ui.ts';
import type { SendRefusal } from '../engine/chat.ts';
import { MAX_TEXT } from '../../channels/chat/events.ts';
import type { Texts } from '../texts/en.ts';
import { Icon, IconButton } from './icon.tsx';
import { Tray } from './tray.tsx';
import { Popover } from './popover.tsx';

/** From this share of the limit on, the count shows. */
const NEAR_LIMIT = 0.9;

/** Where one writes. The draft lives in the engine: it survives a reload. */
export function Composer() {
  const { chat, texts, formats, errorText } = useUi();
  const draft = chat.draft.value;
  const files = chat.files.value;
  const limit = chat.session.value?.limits.text ?? MAX_TEXT;
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isNearLimit = draft.length > limit * NEAR_LIMIT;
  const isEmpty = draft.trim() === '' && files.length === 0;

  useAutoHeight(field, draft);
  useLayoutEffect(() => {
    errorText.value = '';
  }, [draft, files.length]);

  const send = (): void => {
    const refusal = chat.send();
    errorText.value = refusal === undefined ? '' : refusalText(refusal, texts);
    field.current?.focus();
  };
  const insert = (text: string): void => {
    const { current } = field;
    if (!current) return;
    current.focus();
    current.setRangeText(text, current.selectionStart, current.selectionEnd, 'end');
    chat.setDraft(current.value);
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div role="alert">{errorText.value && <p class="fault">{errorText.value}</p>}</div>
      <div class="box">
        {files.length > 0 && <Tray files={files} />}
        <textarea
          ref={field}
          rows={1}
          // The hint stands on the widget's own side; what is typed goes its own way.
          {...(draft && { dir: 'auto' })}
          aria-label={texts.message}
          placeholder={texts.placeholder}
          enterkeyhint="send"
          value={draft}
          {...(isNearLimit && { 'aria-describedby': 'count' })}
          onInput={(event) => chat.setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!isPlainEnter(event)) return;
            event.preventDefault();
            send();
          }}
          onPaste={(event) => {
            const data = event.clipboardData;
            // What comes out of a document is text first, and a picture of that text besides.
            if (!data?.files.length || data.getData('text/plain') !== '') return;
            event.preventDefault();
            chat.attach(data.files);
          }}
        />
        <div class="tools">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            tabIndex={-1}
            onChange={(event) => {
              chat.attach(event.currentTarget.files ?? []);
              event.currentTarget.value = '';
              field.current?.focus();
            }}
          />
          <IconButton icon="attach" label={texts.attach} onClick={() => picker.current?.click()} />
          <EmojiPicker onPick={insert} />
          <span class="gap" />
          {isNearLimit && (
            <span id="count" class={draft.length > limit ? 'count over' : 'count'}>
              {formats.number(draft.length)} / {formats.number(limit)}
            </span>
          )}
          <button
            type="submit"
            class="send"
            aria-label={texts.send}
            title={texts.send}
            aria-disabled={isEmpty}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

/** Enter that sends: not one that ends a composition, which Safari tells only by its code. */
const isPlainEnter = (event: KeyboardEvent): boolean =>
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else tells it in Safari
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

/** As high as its text, up to the style sheet's limit. */
function useAutoHeight(
  field: { readonly current: HTMLTextAreaElement | null },
  text: string,
): void {
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = '0';
    current.style.height = `${current.scrollHeight}px`;
  }, [text]);
}

function refusalText(refusal: SendRefusal, texts: Texts): string {
  switch (refusal) {
    case 'empty':
    case 'changed':
      return '';
    case 'too_large':
      return texts.tooLong;
    case 'uploading':
      return texts.uploading;
    case 'failed_file':
      return texts.failedFile;
  }
}

/** What people use most in a conversation with a shop. A screen reader knows their names. */
const EMOJI = [
  ...new Intl.Segmenter().segment(
    '😀😄😅😂🙂😉😊😍😎🤔😐😢😭😱🥳😴👍👎👌🙏👏🙌👋🤝✌️❤️💔🔥🎉🎁✅❌⚠️❓⏰📦🚚💳💡☕',
  ),
].map(({ segment }) => segment);
const COLUMNS = 8;

function EmojiPicker({ onPick }: { readonly onPick: (emoji: string) => void }) {
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
