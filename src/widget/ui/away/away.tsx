import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { leaving } from '../focus.ts';
import { fill } from '../formats.ts';
import { lastOwnLine, lastWords } from '../own-words.ts';
import { type Ui, useUi } from '../ui.ts';
import { nextOpening } from './hours.ts';

export { lend } from '../part/lent.ts';
export { nextOpening };

/** While nobody is there, asks a visitor who has written since the shop closed for an address. */
export function LeaveEmail() {
  const ui = useUi();
  const { chat, texts, locale, errorText, awayUntil, said } = ui;
  const [email, setEmail] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [isOther, setOther] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const last = lastWords(ui);
  const own = lastOwnLine(ui);
  const session = chat.session.value;
  const first = useRef(session?.lastSeq);
  first.current ??= session?.lastSeq;

  useLayoutEffect(() => {
    if (isOther) form.current?.querySelector('input')?.focus();
  }, [isOther]);
  // A visitor who gave an address during opening hours is asked to confirm it now.
  useEffect(() => {
    const isNew = (own?.seq ?? 0) > (first.current ?? Infinity) && meetsClosed(ui);
    if (session?.email && !session.verified && isNew && !said.peek()) void ask(session.email);
  }, [own?.id]);

  /** Tells the visitor about an email that they get. */
  const ask = async (address: string) => {
    const answer = await chat.setProfile({ email: address }, { language: locale });
    if (answer === 'confirms')
      said.value = { text: fill(texts.emailSent, address), after: lastWords(ui) };
    return answer;
  };

  const send = async (): Promise<void> => {
    const address = email.trim();
    const leave = leaving(form.current);
    setBusy(true);
    const answer = await ask(address);
    setBusy(false);
    const isKept = answer === undefined || answer === 'confirms';
    errorText.value = isKept ? '' : answer === 'invalid' ? texts.badEmail : texts.trouble;
    if (!isKept) return;
    if (!answer) said.value = { text: fill(texts.emailKept, address), after: lastWords(ui) };
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
  const session = ui.chat.session.value;
  return session !== undefined && !session.verified && !session.email && meetsClosed(ui);
}

function meetsClosed(ui: Ui): boolean {
  const { hours } = ui.settings;
  const own = lastOwnLine(ui);
  return hours !== undefined && own !== undefined && nextOpening(hours, own.at) !== undefined;
}
