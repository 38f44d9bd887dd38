import { useRef, useState } from 'preact/hooks';
import ask from '../ask.css?inline';
import { leaving } from '../focus.ts';
import { fill } from '../formats.ts';
import { lastOwnLine, lastWords } from '../own-words.ts';
import { type Ui, useUi } from '../ui.ts';
import { nextOpening } from './hours.ts';

export { lend } from '../part/lent.ts';
export { nextOpening };
export const css = ask;

/** While nobody is there, asks a visitor who has written since the shop closed for an address. */
export function LeaveEmail() {
  const ui = useUi();
  const { chat, texts, locale, errorText, awayUntil, said } = ui;
  const [email, setEmail] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [isOther, setOther] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const last = lastWords(ui);

  const send = async (): Promise<void> => {
    const address = email.trim();
    const leave = leaving(form.current);
    setBusy(true);
    const answer = await chat.setProfile({ email: address }, { language: locale });
    setBusy(false);
    const isKept = answer === undefined || answer === 'confirms';
    errorText.value = isKept ? '' : answer === 'invalid' ? texts.badEmail : texts.trouble;
    if (!isKept) return;
    said.value = { text: fill(answer ? texts.emailSent : texts.emailKept, address), after: last };
    setOther(false);
    leave();
  };

  if (said.value?.after === last && !isOther) {
    return (
      <div class="ask">
        <p role="status">{said.value.text}</p>
        <div class="choices">
          <button type="button" onClick={() => setOther(true)}>
            {texts.otherEmail}
          </button>
        </div>
      </div>
    );
  }
  if (!awayUntil.value || !(isOther || needsAddress(ui))) return null;
  return (
    <form
      ref={form}
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void send();
      }}
    >
      <div class="field">
        <label for="leave-email">{texts.leaveEmail}</label>
        <input
          id="leave-email"
          type="email"
          required
          autocomplete="email"
          maxLength={254}
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
      </div>
      <div class="choices">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {texts.send}
        </button>
      </div>
    </form>
  );
}

/** Whether their last words in this conversation have met a closed shop, and it has no address. */
function needsAddress(ui: Ui): boolean {
  const { hours } = ui.settings;
  const session = ui.chat.session.value;
  if (!hours || !session || session.verified || session.email) return false;
  const own = lastOwnLine(ui);
  return own !== undefined && nextOpening(hours, own.at) !== undefined;
}
