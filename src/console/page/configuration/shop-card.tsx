import type { ComponentChildren } from 'preact';
import type { Channel, ConfigurationView, TestMessage } from '../../contract.ts';
import { Card, ChannelBadge } from '../ui/page-parts.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { api } from '../api.ts';
import { useRequest } from '../loading.ts';
import { CHANNEL_NAMES } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/overlays.tsx';
import { useState } from 'preact/hooks';

type Shop = ConfigurationView['shops'][number];

/** The addresses at which customers reach a shop, each channel with a test message. */
export const ShopCard = ({ shop }: { readonly shop: Shop }) => (
  <Card title={shop.shop} tools={<span class="muted small">platform: {shop.platform}</span>}>
    <div>
      {shop.email !== undefined && (
        <ChannelSection shop={shop.shop} platform={shop.platform} channel="email">
          <Address name="Addresses" values={shop.email.addresses} what="the address" />
          <Address name="SMTP" values={[shop.email.smtp]} what="the SMTP address" />
        </ChannelSection>
      )}
      {shop.sms !== undefined && (
        <ChannelSection shop={shop.shop} platform={shop.platform} channel="sms">
          <Address name="Numbers" values={shop.sms.numbers} what="the number" />
          <Address
            name="Webhook"
            hint="Set as the messaging webhook of the numbers at their provider, with method POST"
            values={[shop.sms.webhook]}
            what="the webhook"
          />
        </ChannelSection>
      )}
      {shop.chat !== undefined && (
        <Chat shop={shop.shop} platform={shop.platform} chat={shop.chat} />
      )}
    </div>
  </Card>
);

const Chat = (props: {
  readonly shop: string;
  readonly platform: string;
  readonly chat: NonNullable<Shop['chat']>;
}) => (
  <ChannelSection shop={props.shop} platform={props.platform} channel="web_chat">
    <Address name="Key" values={[props.chat.key]} what="the key" />
    <Address
      name="Origins"
      values={props.chat.origins}
      none="none; only requests without an Origin header, if allowed"
    />
    <div class="door-line">
      <span class="door-name">Widget</span>
      <div class="snippet">
        <pre tabIndex={0} aria-label="Widget snippet">
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
  </ChannelSection>
);

const ChannelSection = (props: {
  readonly shop: string;
  readonly platform: string;
  readonly channel: Channel;
  readonly children: ComponentChildren;
}) => (
  <section class="door">
    <div class="door-head">
      <h3>
        <ChannelBadge channel={props.channel} />
      </h3>
      <TestMessageButton shop={props.shop} channel={props.channel} platform={props.platform} />
    </div>
    {props.children}
  </section>
);

const Address = (props: {
  readonly name: string;
  readonly values: readonly string[];
  /** Names the value for its copy button; without it there is no button. */
  readonly what?: string;
  readonly hint?: string;
  readonly none?: string;
}) => (
  <div class="door-line">
    <span class="door-name">{props.name}</span>
    <div>
      {props.values.length === 0 && <span class="muted">{props.none ?? 'none'}</span>}
      {props.values.map((value) => (
        <Copied key={value} text={value} what={props.what && `${props.what} ${value}`} />
      ))}
      {props.hint !== undefined && <p class="muted small">{props.hint}</p>}
    </div>
  </div>
);

/** A text with a copy button, if `what` names it. */
export const Copied = (props: { readonly text: string; readonly what: string | undefined }) => (
  <span class="copied">
    <code>{props.text}</code>
    {props.what !== undefined && <CopyButton text={props.text} what={props.what} />}
  </span>
);

/**
 * Sends a test message through the channel and links to its entry. It asks first if a real platform gets the message, whose
 * agent answers it like a customer's.
 */
export function TestMessageButton(props: {
  readonly shop: string;
  readonly channel: Channel;
  readonly platform: string;
}) {
  const { shop, channel, platform } = props;
  const { data, failure, loading, send } = useRequest<TestMessage>();
  const [isAsking, setAsking] = useState(false);
  const sendNow = () => {
    setAsking(false);
    send(() => api.testMessage(shop, channel));
  };
  return (
    <div class="test-message">
      <Button
        size="small"
        icon="send"
        busy={loading}
        aria-label={`Send a test message: ${CHANNEL_NAMES[channel]}, ${shop}`}
        onClick={() => (platform === 'local' ? sendNow() : setAsking(true))}
      >
        Send a test message
      </Button>
      <span role="status">
        {failure !== undefined && <span class="fault">{failure.message}</span>}
        {data !== undefined && !loading && failure === undefined && (
          <a href={`/messages/${encodeURIComponent(data.id)}`}>Accepted. Show the message</a>
        )}
      </span>
      <Dialog
        open={isAsking}
        title={`Send a test message to ${shop}?`}
        onClose={() => setAsking(false)}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button look="primary" icon="send" onClick={sendNow}>
              Send
            </Button>
          </>
        }
      >
        <p>
          It is submitted to <code>{platform}</code> like a customer’s message: it opens a ticket,
          and the AI agent answers it.
        </p>
      </Dialog>
    </div>
  );
}
