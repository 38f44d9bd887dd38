import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { MAX_TEXT } from '../../channels/chat/events.ts';
import type { SendRefusal } from '../engine/chat.ts';
import { isLonger } from '../engine/outbox.ts';
import { Icon, IconButton } from './icon.tsx';
import { isComposing } from './keys.ts';
import { Part } from './part/part.tsx';
import { Popover } from './popover.tsx';
import type { Texts } from '../main-part.ts';
import { isPhone } from '../phone.ts';
import { useUi } from './ui.ts';

/** The character count is shown above this share of the limit. */
const NEAR_LIMIT = 0.9;

/** The field for the next message. The draft is kept by the engine, so it survives a reload. */
export function Composer() {
  const { chat, texts, formats, errorText } = useUi();
  const draft = chat.draft.value;
  const files = chat.files.value;
  const limit = chat.session.value?.limits.text ?? MAX_TEXT;
  const field = useRef<HTMLTextAreaElement>(null);
  /** Sent before its files were uploaded: it goes once they are. */
  const isWaiting = useRef(false);
  const isNearLimit = draft.length > limit * NEAR_LIMIT;
  const isUploading = files.some(({ state }) => state === 'waiting' || state === 'uploading');
  const cannotSend =
    (draft.trim() === '' && files.length === 0) ||
    isLonger(draft.trim(), limit) ||
    files.some(({ state }) => state !== 'uploaded');

  useLayoutEffect(() => {
    errorText.value = '';
    isWaiting.current = false;
  }, [draft, files.length]);
  useLayoutEffect(() => {
    if (isWaiting.current) send();
  }, [isUploading]);

  const send = (): void => {
    const refusal = chat.send();
    isWaiting.current = refusal === 'uploading';
    errorText.value = refusal === undefined ? '' : refusalText(refusal, texts);
  };
  const press = (): void => {
    send();
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
        press();
      }}
    >
      <div role="alert">{errorText.value && <p class="fault">{errorText.value}</p>}</div>
      <div class="box">
        {files.length > 0 && <Part of="files" draw={({ Tray }) => <Tray />} />}
        <MessageField field={field} isNearLimit={isNearLimit} onSend={press} />
        <div class="tools">
          <AttachButton onAttached={() => field.current?.focus()} />
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
            // A press still says why.
            aria-disabled={cannotSend}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

function MessageField(props: {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly isNearLimit: boolean;
  readonly onSend: () => void;
}) {
  const { chat, texts } = useUi();
  const { field, isNearLimit, onSend } = props;
  const draft = chat.draft.value;
  useAutoHeight(field, draft);
  return (
    <textarea
      ref={field}
      rows={1}
      // The placeholder has the widget's direction; typed text has its own.
      {...(draft && { dir: 'auto' })}
      aria-label={texts.message}
      placeholder={texts.placeholder}
      enterkeyhint={isPhone() ? 'enter' : 'send'}
      value={draft}
      {...(isNearLimit && { 'aria-describedby': 'count' })}
      onInput={(event) => chat.setDraft(event.currentTarget.value)}
      onKeyDown={(event) => {
        // A phone's keyboard has no Shift+Enter: there the button sends.
        if (event.key !== 'Enter' || event.shiftKey || isComposing(event) || isPhone()) return;
        event.preventDefault();
        onSend();
      }}
      onPaste={(event) => {
        const data = event.clipboardData;
        // A copied part of a document has text and a picture of it: the text is pasted.
        if (!data?.files.length || data.getData('text/plain') !== '') return;
        event.preventDefault();
        chat.attach(data.files);
      }}
    />
  );
}

function AttachButton({ onAttached }: { readonly onAttached: () => void }) {
  const { chat, texts } = useUi();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        onChange={(event) => {
          chat.attach(event.currentTarget.files ?? []);
          event.currentTarget.value = '';
          onAttached();
        }}
      />
      <IconButton icon="attach" label={texts.attach} onClick={() => picker.current?.click()} />
    </>
  );
}

/** Makes the field as high as its text; the style sheet limits it. */
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

function EmojiPicker({ onPick }: { readonly onPick: (emoji: string) => void }) {
  const { texts } = useUi();
  return (
    <Popover
      kind="dialog"
      class="emoji"
      icon="emoji"
      label={texts.emoji}
      content={(close) => {
        const pick = (emoji: string): void => {
          close();
          onPick(emoji);
        };
        return <Part of="emoji" draw={({ Emoji }) => <Emoji onPick={pick} />} />;
      }}
    />
  );
}
