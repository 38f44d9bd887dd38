import { useState } from 'preact/hooks';
import ask from '../ask.css?inline';
import { fill } from '../formats.ts';
import { type Ui, useUi } from '../ui.ts';
import { nextOpening } from './hours.ts';

export { lend } from '../part/lent.ts';
export { nextOpening };
export const css = ask;

/** While nobody is there, asks a visitor who has written since the shop closed for an address. */
export function LeaveEmail() {
  const ui = useUi();
  const { chat, texts, locale, errorText, awayUntil } = ui;
  const [email, setEmail] = useState('');
  const [said, setSaid] = useState({ text: '', after: '' });
  // What is said about it goes with the visitor's next words.
  const last = chat.lines.value.findLast(({ from }) => from === 'visitor')?.id;
  if (said.text && said.after === last) {
    return (
      <p class="ask" role="status">
        {said.text}
      </p>
    );
  }
  if (!awayUntil.value || !needsAddress(ui)) return null;
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        const address = email.trim();
        void chat.setProfile({ email: address }, { language: locale }).then((answer) => {
          if (answer === undefined || answer === 'confirms') {
            const text = answer ? texts.emailSent : texts.emailKept;
            setSaid({ text: fill(text, address), after: last ?? '' });
          } else errorText.value = answer === 'invalid' ? texts.badEmail : texts.trouble;
        });
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
        <button type="submit" class="primary">
          {texts.send}
        </button>
      </div>
    </form>
  );
}

/** Whether their last words in this conversation have met a closed shop, and it has no address. */
function needsAddress({ chat, settings: { hours } }: Ui): boolean {
  const session = chat.session.value;
  if (!hours || !session || session.verified || session.email) return false;
  const begin = Math.max(0, ...chat.breaks.value);
  const own = chat.lines.value.findLast(({ from, seq = 0 }) => from === 'visitor' && seq > begin);
  return own !== undefined && nextOpening(hours, own.at) !== undefined;
}
