import { useEffect, useRef } from 'preact/hooks';
import { api, isNamed, session } from '../api.ts';
import { span } from '../formats.ts';
import { useRequest } from '../loading.ts';
import { now } from '../now.ts';
import type { Refusal } from '../refusal.ts';
import { Mark } from '../ui/icon.tsx';
import { SchemeSwitch } from '../scheme.tsx';
import { Button } from '../ui/button.tsx';
import { Form, Input } from '../ui/field.tsx';

/** The sign-in page. The address stays, so that the requested page is shown afterwards. */
export function LoginPage() {
  const { failure, loading, send } = useRequest<unknown>();
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  const named = isNamed.value ?? true;
  useEffect(() => {
    document.title = 'Sign in · Sluice';
    (name.current ?? password.current)?.focus();
    // After a logout; the refusal says it.
    if (isNamed.value === undefined) void api.session().catch(() => undefined);
  }, [named]);
  useEffect(() => {
    if (failure !== undefined) password.current?.select();
  }, [failure]);
  const secondsLeft = Math.max(0, Math.ceil(((failure?.retryAt ?? 0) - now.value) / 1_000));
  const isLockedOut = secondsLeft > 0;

  return (
    <main class="alone">
      <Form
        class="login card"
        onSubmit={(valueOf) => {
          if (loading || isLockedOut) return;
          const operator = valueOf('operator').trim();
          const credentials = {
            password: valueOf('password'),
            ...(operator !== '' && { operator }),
          };
          send(async () => {
            session.value = await api.login(credentials);
          });
        }}
      >
        <div class="brand">
          <Mark />
          Sluice
        </div>
        <h1>Sign in to the console</h1>
        {named && (
          <Input
            label="Name"
            showLabel
            name="operator"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            maxLength={64}
            hint="Leave empty to use the console’s single password."
            inputRef={name}
          />
        )}
        <Input
          label="Password"
          showLabel
          name="password"
          type="password"
          autocomplete="current-password"
          required
          inputRef={password}
        />
        <SignInFault {...{ failure, secondsLeft }} />
        <Button type="submit" look="primary" busy={loading} disabled={isLockedOut}>
          Sign in
        </Button>
        <p class="muted small" hidden={failure !== undefined && failure.code !== 'wrong_password'}>
          {named ? (
            <>
              Names and passwords are those of <code>admin.operators</code> in the configuration.
            </>
          ) : (
            <>
              The password is <code>admin.password</code> in the configuration. If it is not set,
              the first start has generated one: <code>adminPassword</code> in{' '}
              <code>keys.json</code>, in the data folder.
            </>
          )}
        </p>
      </Form>
      <SchemeSwitch />
    </main>
  );
}

/** Why the sign-in failed, or how long it is refused. */
function SignInFault(props: {
  readonly failure: Refusal | undefined;
  readonly secondsLeft: number;
}) {
  const { failure, secondsLeft: left } = props;
  return (
    <>
      <div role="alert" class="login-fault">
        {left > 0
          ? 'Too many failed attempts.'
          : failure?.retryAt === undefined && faultOf(failure)}
      </div>
      {left > 0 && (
        <p class="muted small">
          Try again in <b>{left < 60 ? `${left} s` : span(left * 1_000)}</b>
          {left >= 60 && ` ${left % 60} s`}.
        </p>
      )}
    </>
  );
}

const faultOf = (failure: Refusal | undefined): string | undefined =>
  failure?.code === 'wrong_password' ? 'Wrong name or password.' : failure?.message;
