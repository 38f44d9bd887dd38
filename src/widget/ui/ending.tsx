import { useState } from 'preact/hooks';
import { MAX_COMMENT } from '../../channels/chat/events.ts';
import type { Line } from '../engine/chat.ts';
import type { Texts } from '../main-part.ts';
import { save } from './files.tsx';
import { parse } from './line.tsx';
import { textOf } from './rich/plain.ts';
import { type Ui, useUi } from './ui.ts';

const FACES = ['😞', '🙁', '😐', '🙂', '😀'];
const NAMES = ['rating1', 'rating2', 'rating3', 'rating4', 'rating5'] as const;

/** Whether the visitor has written in the conversation that would be ended. */
export function hasConversation({ chat }: Ui): boolean {
  const after = Math.max(0, ...chat.breaks.value);
  return chat.lines.value.some(({ from, seq = 0 }) => from === 'visitor' && seq > after);
}

/** Asks how the conversation was, and ends it. A further line takes the question away. */
export function Ending() {
  const ui = useUi();
  const { chat, texts, ending, errorText } = ui;
  const [value, setValue] = useState(0);
  const [comment, setComment] = useState('');
  const [isBusy, setBusy] = useState(false);
  const asked = ending.value;
  if (!asked || asked.after !== chat.lines.value.at(-1)?.id) return null;
  if (asked.isRated) {
    return (
      <p class="break" role="status">
        {texts.thanks}
      </p>
    );
  }
  const end = async (isRated: boolean): Promise<void> => {
    setBusy(true);
    const isEnded =
      (!isRated || (await chat.rate(value, comment))) && (await chat.newConversation());
    setBusy(false);
    errorText.value = isEnded ? '' : texts.trouble;
    if (!isEnded) return;
    ending.value = isRated ? { ...asked, isRated } : undefined;
  };
  return (
    <form
      class="ending"
      onSubmit={(event) => {
        event.preventDefault();
        void end(true);
      }}
    >
      <fieldset disabled={isBusy}>
        <legend>{texts.rate}</legend>
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

/** As many lines as a transcript has. */
const MAX_LINES = 2_000;

/** Saves what was written as a text file, earlier lines included. */
export async function saveTranscript({
  chat,
  texts,
  formats,
  settings,
  parsers,
}: Ui): Promise<void> {
  let count = -1;
  while (chat.older.peek() === 'some' && chat.lines.peek().length < MAX_LINES) {
    // No older lines have come: the gateway cannot be reached.
    if (count === chat.lines.peek().length) break;
    count = chat.lines.peek().length;
    await chat.loadOlder();
  }
  const name = settings.name ?? texts.title;
  const written = chat.lines.peek().map((line) => {
    const words =
      line.format === 'HTML'
        ? parse(line.text, 'HTML', parsers.peek()).map(textOf).join('').trim()
        : line.text;
    const files = line.files.map((file) => `[${file.name}]`);
    const who = nameOf(line, name, texts);
    return `${formats.moment(line.at)}  ${who}\n${[words, ...files].filter(Boolean).join('\n')}\n`;
  });
  const blob = new Blob([written.join('\n')], { type: 'text/plain;charset=utf-8' });
  save(blob, `chat-${new Date().toISOString().slice(0, 10)}.txt`);
}

const nameOf = ({ from, author }: Line, shop: string, texts: Texts): string =>
  from === 'visitor' ? texts.you : (author?.name ?? shop);
