import { signal } from '@preact/signals-core';
import { useState } from 'preact/hooks';
import { importOnce } from '../import-once.ts';
import type { Settings } from '../settings.ts';
import type * as Hours from './away/hours.ts';
import { hasConversation } from './ending.tsx';
import { fill } from './formats.ts';
import { useUi } from './ui.ts';

const CHECK_EVERY_MS = 60_000;

/**
 * When the shop opens next; undefined while it is open, and without opening hours. The opening
 * hours are read by a file that is loaded only for shops that have some.
 * @param url of that file
 */
export function watchHours({ hours }: Settings, url: string, removed: AbortSignal) {
  const awayUntil = signal<number | undefined>(undefined);
  const load = importOnce<typeof Hours>(url);
  const check = async (): Promise<void> => {
    if (!hours) return;
    const { nextOpening } = await load();
    awayUntil.value = nextOpening(hours, Date.now());
  };
  // Without the file, the shop counts as open; the next check tries again.
  const tick = (): void => void check().catch(() => undefined);
  if (hours) {
    tick();
    const timer = setInterval(tick, CHECK_EVERY_MS);
    removed.addEventListener('abort', () => clearInterval(timer));
  }
  return awayUntil;
}

/** While nobody is there, asks a visitor who has written in this conversation for an address. */
export function LeaveEmail() {
  const ui = useUi();
  const { chat, texts, errorText, awayUntil } = ui;
  const [email, setEmail] = useState('');
  const [kept, setKept] = useState('');
  const session = chat.session.value;
  if (kept) {
    return (
      <p class="break" role="status">
        {fill(texts.emailKept, kept)}
      </p>
    );
  }
  if (!awayUntil.value || !session || session.verified || session.email || !hasConversation(ui))
    return null;
  return (
    <form
      class="ending"
      onSubmit={(event) => {
        event.preventDefault();
        void chat.setProfile({ email: email.trim() }).then((error) => {
          if (error === undefined) setKept(email.trim());
          else errorText.value = error === 'invalid' ? texts.badEmail : texts.trouble;
        });
      }}
    >
      <label class="field">
        {texts.leaveEmail}
        <input
          type="email"
          required
          autocomplete="email"
          maxLength={254}
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
      </label>
      <div class="choices">
        <button type="submit" class="primary">
          {texts.send}
        </button>
      </div>
    </form>
  );
}
