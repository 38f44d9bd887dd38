import { useState } from 'preact/hooks';
import type { Channel } from '../../contract.ts';
import { api } from '../api.ts';
import type { Refusal } from '../refusal.ts';
import { CHANNEL_NAMES } from '../formats.ts';
import { asRefusal } from '../load.ts';
import { Button } from '../ui/button.tsx';

type Outcome =
  | { readonly kind: 'idle' | 'sending' }
  | { readonly kind: 'sent'; readonly href: string }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

/** Sends a message through the channel's own door, and leads to what became of it. */
export function TestMessageButton(props: { readonly shop: string; readonly channel: Channel }) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' });
  const send = async () => {
    setOutcome({ kind: 'sending' });
    try {
      const { id } = await api.testMessage(props.shop, props.channel);
      setOutcome({ kind: 'sent', href: `/messages/${encodeURIComponent(id)}` });
    } catch (error) {
      setOutcome({ kind: 'failed', refusal: asRefusal(error) });
    }
  };
  return (
    <div class="test-message">
      <Button
        size="small"
        icon="send"
        busy={outcome.kind === 'sending'}
        aria-label={`Send a test message: ${CHANNEL_NAMES[props.channel]}, ${props.shop}`}
        onClick={() => void send()}
      >
        Send a test message
      </Button>
      <span role="status">
        {outcome.kind === 'sent' && <a href={outcome.href}>Accepted: see what became of it</a>}
        {outcome.kind === 'failed' && <span class="fault">{outcome.refusal.message}</span>}
      </span>
    </div>
  );
}
