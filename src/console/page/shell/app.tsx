import { useEffect } from 'preact/hooks';
import { api, session } from '../api.ts';
import { LoginPage } from '../login/login-page.tsx';
import { startStream } from '../stream.ts';
import { Failure } from '../ui/states.tsx';
import { Toasts } from '../ui/toast.tsx';
import { asRefusal, useLoad } from '../load.ts';
import { Layout } from './layout.tsx';

/** The login while nobody is signed in, else the page that the address names. */
export function App() {
  const isSignedIn = session.value !== null && session.value !== undefined;
  useEffect(() => (isSignedIn ? startStream() : undefined), [isSignedIn]);
  return (
    <>
      {session.value === undefined ? <Starting /> : isSignedIn ? <Layout /> : <LoginPage />}
      <Toasts />
    </>
  );
}

/** Before it is known whether there is a session. */
function Starting() {
  const { failure, reload } = useLoad(async () => {
    try {
      session.value = await api.session();
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal.code !== 'signed_out') throw refusal;
    }
  });
  return failure === undefined ? null : (
    <main class="alone">
      <Failure refusal={failure} onRetry={reload} />
    </main>
  );
}
