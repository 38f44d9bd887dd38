import { useEffect, useState } from 'preact/hooks';
import { useUi } from './ui.ts';
import { Countdown } from './countdown.tsx';
import { Icon } from './icon.tsx';
import { isShutOut } from './refusal.ts';

/** A connection that is back before anyone looks is not worth a word. */
const GRACE_MS = 1_200;

/** What stands between the visitor and the conversation. */
export function Banner() {
  const { chat, texts } = useUi();
  const connection = chat.connection.value;
  const isOffline = useDelayed(connection.state === 'offline');
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

function useDelayed(isSo: boolean): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(isSo), isSo && navigator.onLine ? GRACE_MS : 0);
    return () => clearTimeout(timer);
  }, [isSo]);
  return isShown;
}
