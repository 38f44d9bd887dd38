import { useEffect, useState } from 'preact/hooks';
import type { ConnectionState } from '../engine/chat.ts';
import { fill } from './formats.ts';
import { Icon } from './icon.tsx';
import { useUi } from './ui.ts';

/** Shorter interruptions are not shown. */
const GRACE_MS = 1_200;

/** Says that the visitor is offline, or that the gateway refuses the connection. */
export function Banner() {
  const { chat, texts } = useUi();
  const connection = chat.connection.value;
  const isOffline = useDelayed(connection.state === 'offline', navigator.onLine ? GRACE_MS : 0);
  let alert = '';
  if (isShutOut(connection)) alert = texts.unavailable;
  else if (connection.state === 'refused')
    alert = connection.code === 'bad_identity' ? texts.notSignedIn : texts.busy;
  return (
    <div class="banners">
      <div role="status">
        {isOffline && connection.state === 'offline' && (
          <p class="banner">
            <Icon name="alert" />
            <span>{texts.offline}</span>
          </p>
        )}
      </div>
      <div role="alert">
        {alert && (
          <p class="banner">
            <Icon name="alert" />
            <span>
              {alert}{' '}
              {connection.state === 'refused' && connection.retryAt !== undefined && (
                <Countdown text={texts.retrying} until={connection.retryAt} />
              )}
            </span>
          </p>
        )}
      </div>
    </div>
  );
}

/** Whether `isSo` has been true for a while; it becomes false at once. */
export function useDelayed(isSo: boolean, delayMs: number): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(isSo), isSo ? delayMs : 0);
    return () => clearTimeout(timer);
  }, [isSo]);
  return isShown;
}

/** A text whose `#` is replaced by the time until `until`: "in 5 seconds". */
export function Countdown({ text, until }: { readonly text: string; readonly until: number }) {
  const { formats } = useUi();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  // A screen reader says the sentence once, not each second.
  return <span aria-live="off">{fill(text, formats.wait(seconds))}</span>;
}

/** Only the page's developer or the shop can resolve the refusal. */
export const isShutOut = (connection: ConnectionState): boolean =>
  connection.state === 'refused' && ['unknown_key', 'origin'].includes(connection.code);
