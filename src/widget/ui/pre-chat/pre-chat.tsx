import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar.tsx';
import { focusField } from '../focus.ts';
import { fill } from '../formats.ts';
import { lastWords } from '../own-words.ts';
import { useUi } from '../ui.ts';

export { lend } from '../part/lent.ts';
export { default as css } from './pre-chat.css?inline';

const EMAIL = /^[^\s@<>"]+@[^\s@<>".]+\.[^\s@<>"]+$/;
const MAX_LENGTH = { name: 200, email: 254 };

/** Asks for name and address before the first message. */
export function PreChat() {
  const ui = useUi();
  const { chat, texts, locale, settings, awayUntil, isIntroduced, takesFocus, said } = ui;
  const box = useRef<HTMLFormElement>(null);
  const isRequired = settings.preChat === 'required';
  const [typed, setTyped] = useState({ name: '', email: '' });
  const [faults, setFaults] = useState<{ name?: string; email?: string; form?: string }>({});
  const [isBusy, setBusy] = useState(false);

  useLayoutEffect(() => {
    const panel = box.current?.closest<HTMLElement>('.panel');
    if (panel && takesFocus.peek()) focusField(panel);
  }, []);

  const submit = async (): Promise<void> => {
    const [name, email] = [typed.name.trim(), typed.email.trim()];
    const profile = { ...(name && { name }), ...(email && { email }) };
    const found = {
      ...(isRequired && !name && { name: texts.fillIn }),
      ...(isRequired && !email && { email: texts.fillIn }),
      ...(email && !EMAIL.test(email) && { email: texts.badEmail }),
    };
    setFaults(found);
    if (found.name ?? found.email) return;
    setBusy(true);
    // Nobody is there: replies may come when the visitor has left.
    const notify = email && awayUntil.value ? { language: locale } : undefined;
    const answer = name || email ? await chat.setProfile(profile, notify) : undefined;
    setBusy(false);
    if (answer === 'confirms')
      said.value = { text: fill(texts.emailSent, email), after: lastWords(ui) };
    if (answer === undefined || answer === 'confirms') isIntroduced.value = true;
    else if (answer === 'invalid' && email) setFaults({ email: texts.badEmail });
    else setFaults({ form: texts.trouble });
  };

  return (
    <form
      ref={box}
      class="pre-chat"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div class="hello">
        <Avatar author={settings.agent} px={64} />
        <p dir="auto">{settings.greeting ?? texts.welcome}</p>
      </div>
      <p class="why">{isRequired ? texts.whoAreYou : texts.optional}</p>
      {(['name', 'email'] as const).map((kind) => (
        <Field
          key={kind}
          {...{ kind, isRequired }}
          label={texts[kind]}
          value={typed[kind]}
          fault={faults[kind]}
          onChange={(value) => setTyped({ ...typed, [kind]: value })}
        />
      ))}
      <div role="alert">{faults.form && <p class="fault">{faults.form}</p>}</div>
      <button type="submit" class="primary" disabled={isBusy}>
        {texts.start}
      </button>
      {settings.privacy && (
        <a class="privacy" href={settings.privacy} target="_blank" rel="noopener">
          {texts.privacy}
        </a>
      )}
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly kind: 'name' | 'email';
  readonly value: string;
  readonly isRequired: boolean;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}

const Field = ({ label, kind, value, isRequired, fault, onChange }: FieldProps) => (
  <div class="field">
    <label for={kind}>
      {label}
      {/* Screen readers say that it is required. */}
      {isRequired && <span aria-hidden="true"> *</span>}
    </label>
    <input
      id={kind}
      {...(kind === 'email' ? { type: 'email' } : { type: 'text' })}
      autocomplete={kind}
      {...(value && { dir: 'auto' })}
      value={value}
      maxLength={MAX_LENGTH[kind]}
      required={isRequired}
      aria-invalid={fault !== undefined}
      aria-describedby={`fault-${kind}`}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
    <div id={`fault-${kind}`} role="alert">
      {fault && <p class="fault">{fault}</p>}
    </div>
  </div>
);
