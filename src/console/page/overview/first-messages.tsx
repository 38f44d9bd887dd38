import type { ComponentChildren } from 'preact';
import type { Channel, ConfigurationView } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { Copied, TestMessageButton } from '../configuration/shop-card.tsx';
import { Card, ChannelBadge, NotLoaded } from '../ui/page-parts.tsx';

type Shop = ConfigurationView['shops'][number];

/** Shown until the first message arrives: how to send one through each channel. */
export function FirstMessages() {
  const { data, failure, reload } = useLoad((signal) => api.configuration(signal));
  const shop = data?.shops[0];
  return (
    <Card title="Send the first message">
      {data === undefined && <NotLoaded {...{ failure }} onRetry={reload} lines={3} />}
      {shop !== undefined && <ChannelSteps shop={shop} />}
    </Card>
  );
}

const ChannelSteps = ({ shop }: { readonly shop: Shop }) => (
  <ul class="ways rows">
    {shop.email !== undefined && (
      <ChannelStep shop={shop.shop} channel="email">
        Send an email to <Copied text={shop.email.addresses[0] ?? ''} what="the address" /> through{' '}
        <Copied text={shop.email.smtp} what="the SMTP address" />
      </ChannelStep>
    )}
    {shop.sms !== undefined && (
      <ChannelStep shop={shop.shop} channel="sms">
        Set <Copied text={shop.sms.webhook} what="the webhook" /> as the messaging webhook of{' '}
        {shop.sms.numbers[0] ?? 'the number'} at Twilio, and send a text message to that number
      </ChannelStep>
    )}
    {shop.chat !== undefined && (
      <ChannelStep shop={shop.shop} channel="web_chat">
        {shop.chat.demo === undefined ? (
          <>
            Add the widget to a page (<a href="/configuration">snippet</a>) and send a message in it
          </>
        ) : (
          <>
            Open{' '}
            <a href={shop.chat.demo} target="_blank" rel="noreferrer">
              the demo page
            </a>{' '}
            and send a message in the chat
          </>
        )}
      </ChannelStep>
    )}
  </ul>
);

const ChannelStep = (props: {
  readonly shop: string;
  readonly channel: Channel;
  readonly children: ComponentChildren;
}) => (
  <li>
    <ChannelBadge channel={props.channel} />
    <p>{props.children}</p>
    <TestMessageButton shop={props.shop} channel={props.channel} />
  </li>
);
