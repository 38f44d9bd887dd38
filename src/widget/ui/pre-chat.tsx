import { useState } from 'preact/hooks';
import { type Ui, useUi } from './ui.ts';

const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/;
const MAX_LENGTH = { name: 200, email: 254 };

/** Whether the visitor is asked for name and address before the first message. */
export function needsPreChat({ chat, settings, isIntroduced }: Ui): boolean {
  const session = chat.session.value;
  const isAsked = settings.preChat === 'optional' || settings.preChat === 'required';
  const isKnown = session !== undefined && (session.verified || session.name !== undefined);
  return isAsked && !isKnown && chat.lines.value.length === 0 && !isIntroduced.value;
}

export function PreChat() {
  const { chat, texts, settings, isIntroduced } = useUi();
  const isRequired = settings.preChat === 'required';
  const [typed, setTyped] = useState({ name: '', email: '' });
  const [faults, setFaults] = useState<{ name?: string; email?: string; form?: string }>({});
  const [isBusy, setBusy] = useState(false);

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
    const error = name || email ? await chat.setProfile(profile) : undefined;
    setBusy(false);
    if (error === undefined) isIntroduced.value = true;
    else if (error === 'invalid' && email) setFaults({ email: texts.badEmail });
    else setFaults({ form: texts.trouble });
  };

  return (
    <form
      class="pre-chat"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p class="hello" dir="auto">
        {settings.greeting ?? texts.welcome}
      </p>
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
    <label for={kind}>{label}</label>
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
