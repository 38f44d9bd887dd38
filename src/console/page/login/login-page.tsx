import { useEffect, useRef, useState } from 'preact/hooks';
import { api, asRefusal, session } from '../api.ts';
import { span } from '../formats.ts';
import { gatewayNow, now } from '../now.ts';
import { Mark } from '../ui/icon.tsx';
import { SchemeSwitch } from '../scheme.tsx';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';

/** An error message and, after too many attempts, the time of the next one. */
interface Fault {
  readonly text: string;
  readonly until?: number;
}

/** The sign-in page. The address stays, so that the requested page is shown afterwards. */
export function LoginPage() {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | undefined>();
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Sluice';
    password.current?.focus();
  }, []);
  const isLockedOut = fault?.until !== undefined && fault.until > now.value;
  const secondsLeft = isLockedOut ? Math.ceil(((fault.until ?? 0) - now.value) / 1_000) : 0;

  const submit = async (form: HTMLFormElement) => {
    if (isBusy || isLockedOut) return;
    // Password managers may fill the form without an input event.
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
        text: code === 'wrong_password' ? 'Wrong name or password.' : message,
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
          hint="Leave empty unless you have a name of your own."
        />
        <Input
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          inputRef={password}
          aria-invalid={fault !== undefined && !isLockedOut}
        />
        <div role="alert" class="login-fault">
          {fault !== undefined &&
            (isLockedOut
              ? 'Too many failed attempts.'
              : fault.until === undefined
                ? fault.text
                : '')}
        </div>
        {isLockedOut && (
          <p class="muted login-wait">
            Try again in <b>{secondsLeft < 60 ? `${secondsLeft} s` : span(secondsLeft * 1_000)}</b>
            {secondsLeft >= 60 && ` ${secondsLeft % 60} s`}.
          </p>
        )}
        <Button type="submit" look="primary" busy={isBusy} disabled={isLockedOut}>
          Sign in
        </Button>
        <p class="muted login-hint">
          The password is <code>admin.password</code> in the configuration, or the password printed
          at the first start of the gateway.
        </p>
      </form>
      <SchemeSwitch />
    </main>
  );
}

const textOf = (value: FormDataEntryValue | null): string =>
  typeof value === 'string' ? value : '';
