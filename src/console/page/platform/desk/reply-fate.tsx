import { useState } from 'preact/hooks';
import { api, asRefusal } from '../../api.ts';
import { Badge, Time } from '../../ui/page-parts.tsx';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/overlays.tsx';
import type { OtherChannel, ReplyFate } from '../../../contract.ts';

const WORDS: Readonly<Record<ReplyFate['state'], string>> = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'not delivered',
};

/** How far a reply has come, and why it failed. */
export function FateWords({ fate }: { readonly fate: ReplyFate }) {
  const { state, at, code, reason } = fate;
  const why = [reason, code === undefined ? undefined : `(${code})`].filter(Boolean).join(' ');
  return (
    <>
      {state === 'failed' ? (
        <Badge tone="danger" icon="failed">
          {WORDS[state]}
        </Badge>
      ) : (
        <span class="muted">
          {WORDS[state]}
          {at !== undefined && state !== 'queued' && (
            <>
              {' '}
              <Time {...{ at }} />
            </>
          )}
        </span>
      )}
      {why !== '' && <span class="muted break">{why}</span>}
    </>
  );
}

type ReplyChange = 'send-again' | 'send-by' | 'dismiss';

/** Says why it cannot be done, if so. */
export async function changeReply(
  shop: string,
  id: string,
  action: ReplyChange,
  body: object = {},
): Promise<void> {
  try {
    await api.changeReply(shop, id, action, body);
  } catch (error) {
    toast({ tone: 'danger', text: asRefusal(error).message });
  }
}

const BY: Readonly<Record<OtherChannel, string>> = {
  email: 'Send by email',
  sms: 'Send by SMS',
};

/** What a person can do about a reply that failed. */
export function FateActions(props: {
  readonly shop: string;
  /** The id of the message. */
  readonly id: string;
  readonly otherChannels: readonly OtherChannel[];
  readonly onDone: () => void;
}) {
  const { shop, id, otherChannels, onDone } = props;
  const [isBusy, setBusy] = useState(false);
  const act = async (action: ReplyChange, body?: object) => {
    setBusy(true);
    await changeReply(shop, id, action, body);
    setBusy(false);
    onDone();
  };
  return (
    <p class="desk-actions">
      <Button size="small" icon="again" disabled={isBusy} onClick={() => void act('send-again')}>
        Send again
      </Button>
      {otherChannels.map((channel) => (
        <Button
          key={channel}
          size="small"
          icon={channel}
          disabled={isBusy}
          onClick={() => void act('send-by', { channel })}
        >
          {BY[channel]}
        </Button>
      ))}
      <Button
        size="small"
        look="quiet"
        disabled={isBusy}
        title="The customer has been reached otherwise"
        onClick={() => void act('dismiss')}
      >
        Done
      </Button>
    </p>
  );
}
