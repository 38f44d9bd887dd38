import { useUi } from './ui.ts';

/** The shop's questions, until the visitor has written, or writes, words of their own. */
export function Starters() {
  const { chat, settings } = useUi();
  const { starters = [] } = settings;
  const isUnused = chat.lines.value.length === 0 && chat.draft.value.trim() === '';
  if (!isUnused || starters.length === 0) return null;
  const send = (text: string): void => {
    chat.setDraft(text);
    chat.send();
  };
  return (
    <div class="starters">
      {starters.map((text) => (
        <button key={text} type="button" dir="auto" onClick={() => send(text)}>
          {text}
        </button>
      ))}
    </div>
  );
}
