import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MAX_COMMENT } from '../../../channels/chat/events.ts';
import { leaving } from '../focus.ts';
import { useUi } from '../ui.ts';
import { saveTranscript } from './transcript.ts';

const FACES = ['😞', '🙁', '😐', '🙂', '😀'];
const NAMES = ['rating1', 'rating2', 'rating3', 'rating4', 'rating5'] as const;

/** Asks how the conversation was, and ends it. */
export function Ending() {
  const ui = useUi();
  const { chat, texts, ending, errorText } = ui;
  const [value, setValue] = useState(0);
  const [comment, setComment] = useState('');
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const asked = ending.value;

  useLayoutEffect(() => {
    form.current?.scrollIntoView({ block: 'nearest' });
    form.current?.querySelector('input')?.focus({ preventScroll: true });
  }, []);

  if (asked?.isRated === true) {
    return (
      <div class="ask" role="status">
        <p class="asked">{texts.thanks}</p>
        <div class="choices">
          <button type="button" onClick={() => void saveTranscript(ui)}>
            {texts.transcript}
          </button>
        </div>
      </div>
    );
  }
  const end = async (isRated: boolean): Promise<void> => {
    if (isBusy) return;
    const leave = leaving(form.current);
    setBusy(true);
    const isEnded =
      (!isRated || (await chat.rate(value, comment))) && (await chat.newConversation());
    setBusy(false);
    errorText.value = isEnded ? '' : texts.trouble;
    if (!isEnded) return;
    ending.value = asked && isRated ? { ...asked, isRated } : undefined;
    leave();
  };
  return (
    <form
      ref={form}
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        void end(true);
      }}
    >
      {/* Not disabled while it is sent: the focus would be lost. */}
      <fieldset aria-busy={isBusy}>
        <legend class="asked">{texts.rate}</legend>
        <div class="faces">
          {NAMES.map((name, index) => (
            <label key={name} title={texts[name]}>
              <input
                type="radio"
                name="rating"
                aria-label={texts[name]}
                checked={value === index + 1}
                onChange={() => setValue(index + 1)}
              />
              <span aria-hidden="true">{FACES[index]}</span>
            </label>
          ))}
        </div>
        {value > 0 && (
          <textarea
            rows={2}
            dir="auto"
            maxLength={MAX_COMMENT}
            aria-label={texts.comment}
            placeholder={texts.comment}
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        )}
        <div class="choices">
          <button type="button" onClick={() => void end(false)}>
            {texts.skip}
          </button>
          <button type="submit" class="primary" disabled={value === 0}>
            {texts.send}
          </button>
        </div>
      </fieldset>
    </form>
  );
}
