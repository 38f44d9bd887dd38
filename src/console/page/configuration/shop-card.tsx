import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Channel, ConfigurationView } from '../../contract.ts';
import { Card, ChannelBadge } from '../ui/page-parts.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { api, asRefusal } from '../api.ts';
import type { Refusal } from '../refusal.ts';
import { CHANNEL_NAMES } from '../formats.ts';
import { Button } from '../ui/button.tsx';

type Shop = ConfigurationView['shops'][number];

/** How customers reach one shop, each address with its copy button, each channel with its test. */
export const ShopCard = ({ shop }: { readonly shop: Shop }) => (
  <Card title={shop.shop} tools={<span class="muted small">platform: {shop.platform}</span>}>
    <div class="doors">
      {shop.email !== undefined && (
        <Door shop={shop.shop} channel="email">
          <Address name="Addresses" values={shop.email.addresses} what="the address" />
          <Address name="SMTP" values={[shop.email.smtp]} what="the SMTP address" />
        </Door>
      )}
      {shop.sms !== undefined && (
        <Door shop={shop.shop} channel="sms">
          <Address name="Numbers" values={shop.sms.numbers} what="the number" />
          <Address
            name="Webhook"
            hint="Messaging webhook of the numbers at Twilio, by POST"
            values={[shop.sms.webhook]}
            what="the webhook"
          />
        </Door>
      )}
      {shop.chat !== undefined && <Chat shop={shop.shop} chat={shop.chat} />}
    </div>
  </Card>
);

const Chat = (props: { readonly shop: string; readonly chat: NonNullable<Shop['chat']> }) => (
  <Door shop={props.shop} channel="web_chat">
    <Address name="Key" values={[props.chat.key]} what="the key" />
    <Address
      name="Origins"
      values={props.chat.origins}
      none="none: only pages without an origin, where that is allowed"
    />
    <div class="door-line">
      <span class="door-name">Widget</span>
      <div class="snippet">
        <pre tabIndex={0} aria-label="Snippet of the widget">
          {props.chat.snippet}
        </pre>
        <CopyButton text={props.chat.snippet} what="the snippet" withWord />
      </div>
    </div>
    {props.chat.demo !== undefined && (
      <div class="door-line">
        <span class="door-name">Demo</span>
        <a href={props.chat.demo} target="_blank" rel="noreferrer">
          {props.chat.demo}
        </a>
      </div>
    )}
  </Door>
);

const Door = (props: {
  readonly shop: string;
  readonly channel: Channel;
  readonly children: ComponentChildren;
}) => (
  <section class="door">
    <div class="door-head">
      <h3>
        <ChannelBadge channel={props.channel} />
      </h3>
      <TestMessageButton shop={props.shop} channel={props.channel} />
    </div>
    {props.children}
  </section>
);

const Address = (props: {
  readonly name: string;
  readonly values: readonly string[];
  /** Names the copied text for the copy buttons; without it there are none. */
  readonly what?: string;
  readonly hint?: string;
  readonly none?: string;
}) => (
  <div class="door-line">
    <span class="door-name">{props.name}</span>
    <div>
      {props.values.length === 0 && <span class="muted">{props.none ?? 'none'}</span>}
      {props.values.map((value) => (
        <div key={value} class="copied">
          <code>{value}</code>
          {props.what !== undefined && <CopyButton text={value} what={`${props.what} ${value}`} />}
        </div>
      ))}
      {props.hint !== undefined && <p class="muted small">{props.hint}</p>}
    </div>
  </div>
);

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
