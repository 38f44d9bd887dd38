import { useLocation } from 'preact-iso';
import { span } from '../formats.ts';
import { now } from '../now.ts';
import { connection, lastSeenAt, overview } from '../stream.ts';
import { Icon } from '../ui/icon.tsx';

/** Says that what is shown is old, and how old. */
export function ConnectionNote() {
  const { path } = useLocation();
  // The overview's verdict says it there.
  const isLost = connection.value === 'lost' && path !== '/';
  const seen = lastSeenAt.value;
  return (
    <div role="status" aria-live="polite">
      {isLost && (
        <p class="note danger">
          <Icon name="alert" />
          <span>
            <b>Connection lost.</b>{' '}
            {seen === undefined ? (
              'The gateway has not answered yet.'
            ) : (
              <>
                Last seen <span aria-live="off">{span(now.value - seen)}</span> ago; what is shown
                is from then.
              </>
            )}{' '}
            Trying again.
          </span>
        </p>
      )}
      {connection.value === 'live' && overview.value?.deliveryPaused === true && (
        <p class="note warning">
          <Icon name="pause" />
          <span>
            <b>Delivery is paused.</b> Messages are taken in and wait. To go on, set{' '}
            <code>delivery.paused: false</code> and restart the gateway.
          </span>
        </p>
      )}
    </div>
  );
}

const SAID = { live: 'Live', connecting: 'Connecting', lost: 'Offline' } as const;

export const StatusDot = () => (
  <span class={`status-dot ${connection.value}`}>
    <i aria-hidden="true" />
    {SAID[connection.value]}
  </span>
);
