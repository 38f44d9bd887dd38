import { useEffect, useRef, useState } from 'preact/hooks';
import { api, asRefusal, session } from '../api.ts';
import { span } from '../formats.ts';
import { gatewayNow, now } from '../now.ts';
import { Mark } from '../ui/icon.tsx';
import { SchemeSwitch } from '../scheme.tsx';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';

/** A refusal in words, and until when trying again is useless. */
interface Fault {
  readonly text: string;
  readonly until?: number;
}

/** Signs in; the address stays, so that the page that was asked for comes next. */
export function LoginPage() {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | undefined>();
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Sluice';
    password.current?.focus();
  }, []);
  const isBarred = fault?.until !== undefined && fault.until > now.value;
  const barredFor = isBarred ? Math.ceil(((fault.until ?? 0) - now.value) / 1_000) : 0;

  const submit = async (form: HTMLFormElement) => {
    if (isBusy || isBarred) return;
    // What a password manager has filled in is in the form, and told to nobody.
    const data = new FormData(form);
    const operator = textOf(data.get('operator')).trim();
    setBusy(true);
    setFault(undefined);
    try {
      session.value = await api.login({
        password: textOf(data.get('password')),
        ...(operator !== '' && { operator }),
      });
    } catch (error) {
      const { code, message, retryAfter } = asRefusal(error);
      setBusy(false);
      setFault({
        text: code === 'wrong_password' ? 'The name or the password is wrong.' : message,
        ...(retryAfter !== undefined && { until: gatewayNow() + retryAfter * 1_000 }),
      });
      password.current?.select();
    }
  };

  return (
    <main class="alone">
      <form
        class="login card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <div class="brand">
          <Mark />
          Sluice
        </div>
        <h1>Sign in to the console</h1>
        <Input
          label="Name"
          name="operator"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          maxLength={64}
          hint="Only if you were given one; else leave it empty."
        />
        <Input
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          inputRef={password}
          aria-invalid={fault !== undefined && !isBarred}
        />
        <div role="alert" class="login-fault">
          {fault !== undefined &&
            (isBarred
              ? 'Too many wrong tries from here.'
              : fault.until === undefined
                ? fault.text
                : '')}
        </div>
        {isBarred && (
          <p class="muted login-wait">
            You can try again in{' '}
            <b>{barredFor < 60 ? `${barredFor} s` : span(barredFor * 1_000)}</b>
            {barredFor >= 60 && ` ${barredFor % 60} s`}.
          </p>
        )}
        <Button type="submit" look="primary" busy={isBusy} disabled={isBarred}>
          Sign in
        </Button>
        <p class="muted login-hint">
          The password is <code>admin.password</code> of the configuration, or what the gateway
          printed at its first start.
        </p>
      </form>
      <SchemeSwitch />
    </main>
  );
}

const textOf = (value: FormDataEntryValue | null): string =>
  typeof value === 'string' ? value : '';
