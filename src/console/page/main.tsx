import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import './look/tokens.css';
import './look/base.css';
import './look/parts.css';
import './look/overlays.css';
import './look/shell.css';
import { applyScheme } from './scheme.tsx';
import { api, asRefusal, session } from './api.ts';
import { useLoad } from './loading.ts';
import { LoginPage } from './login/login-page.tsx';
import { startStream } from './stream.ts';
import { Failure } from './ui/page-parts.tsx';
import { Toasts } from './ui/overlays.tsx';
import { Layout } from './shell/layout.tsx';

applyScheme();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);

/** Shows the login page without a session, else the page of the address. */
function App() {
  const isSignedIn = session.value !== null && session.value !== undefined;
  useEffect(() => (isSignedIn ? startStream() : undefined), [isSignedIn]);
  return (
    <>
      {session.value === undefined ? <SessionCheck /> : isSignedIn ? <Layout /> : <LoginPage />}
      <Toasts />
    </>
  );
}

/** Asks the gateway whether this browser has a session. */
function SessionCheck() {
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
