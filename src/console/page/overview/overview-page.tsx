import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { overview } from '../stream.ts';
import { Copied, TestMessageButton } from '../configuration/shop-card.tsx';
import { Card, ChannelBadge, Fact, NotLoaded, PageTitle } from '../ui/page-parts.tsx';
import type { Channel, ConfigurationView, Overview } from '../../contract.ts';
import { bytes, count, exact, span } from '../formats.ts';
import { isPhone } from '../media.ts';
import { now } from '../now.ts';
import { Channels, Latency, Queue } from './flow.tsx';
import { Instances } from './instances.tsx';
import { CHART_RANGES, type ChartRange, useLiveHistory } from './rates.ts';
import './overview.css';
import { Shops } from './shops.tsx';
import { isUnused, Verdict } from './verdict.tsx';

type Shop = ConfigurationView['shops'][number];

/** The state of the gateway: issues, channels, queue, shops and the machine. */
export function OverviewPage() {
  // Requested in addition to the stream, since it is faster and its error can be shown.
  const initial = useLoad((signal) => api.overview(signal));
  const [range, setRange] = useState<ChartRange>(CHART_RANGES[1]);
  const liveHistory = useLiveHistory(range);
  const figures = overview.value ?? initial.data;
  return (
    <>
      <PageTitle title="Overview">
        <div class="segments" role="group" aria-label="Time range of the charts">
          {CHART_RANGES.map((each) => (
            <button
              key={each.key}
              type="button"
              aria-pressed={each === range}
              onClick={() => setRange(each)}
            >
              {each.label}
            </button>
          ))}
        </div>
      </PageTitle>
      {figures === undefined ? (
        <NotLoaded failure={initial.failure} onRetry={initial.reload} lines={3} height={120} />
      ) : (
        <div class="cards">
          <Verdict overview={figures} />
          {isUnused(figures) && <FirstMessages />}
          {isPhone.value ? (
            <>
              <Queue overview={figures} {...liveHistory} />
              <Shops overview={figures} />
              <Channels channels={figures.channels} {...liveHistory} />
              <Latency overview={figures} {...liveHistory} />
            </>
          ) : (
            <>
              <Channels channels={figures.channels} {...liveHistory} />
              <div class="pair">
                <Queue overview={figures} {...liveHistory} />
                <Latency overview={figures} {...liveHistory} />
              </div>
              <Shops overview={figures} />
            </>
          )}
          {figures.instances !== undefined && <Instances instances={figures.instances} />}
          <Machine overview={figures} />
        </div>
      )}
    </>
  );
}

function FreeSpace({ freeBytes, totalBytes = 1 }: Overview['disk']) {
  if (freeBytes === undefined) return <>unknown: the file system does not say</>;
  const used = Math.min(1, 1 - freeBytes / totalBytes);
  return (
    <>
      <meter aria-label="Disk used" min={0} max={1} high={0.85} optimum={0} value={used} />
      {bytes(freeBytes)} free of {bytes(totalBytes)}
    </>
  );
}

/** Disk, certificate, connections and uptime. */
function Machine({ overview }: { readonly overview: Overview }) {
  const { disk, certificate, sockets, startedAt, version } = overview;
  return (
    <Card title="Machine">
      <dl class="machine">
        <Fact name="Disk">
          <FreeSpace {...disk} />
          <span class="muted">new messages are refused below {bytes(disk.reserveBytes)}</span>
        </Fact>
        <Fact name="Certificate">
          {certificate === undefined ? (
            <span class="muted">no TLS</span>
          ) : (
            <>
              <span title={exact(certificate.endsAt)}>
                {certificate.endsAt > now.value
                  ? `expires in ${span(certificate.endsAt - now.value)}`
                  : 'expired'}
              </span>
              <span class="muted">
                {certificate.subject}
                {certificate.selfSigned && ', self-signed'}
              </span>
            </>
          )}
        </Fact>
        <Fact name="Connections">
          {count(sockets.chat)} chat, {count(sockets.smtp)} SMTP
        </Fact>
        <Fact name="Uptime">
          <span title={exact(startedAt)}>{span(now.value - startedAt)}</span>
          <span class="muted">Sluice {version}</span>
        </Fact>
      </dl>
    </Card>
  );
}

/** Shown until the first message arrives: how to send one through each channel. */
function FirstMessages() {
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
      <ChannelStep shop={shop.shop} platform={shop.platform} channel="email">
        Send an email to <Copied text={shop.email.addresses[0] ?? ''} what="the address" /> through{' '}
        <Copied text={shop.email.smtp} what="the SMTP address" />
      </ChannelStep>
    )}
    {shop.sms !== undefined && (
      <ChannelStep shop={shop.shop} platform={shop.platform} channel="sms">
        Set <Copied text={shop.sms.webhook} what="the webhook" /> as the messaging webhook of{' '}
        {shop.sms.numbers[0] ?? 'the number'} at its provider, and send a text message to that
        number
      </ChannelStep>
    )}
    {shop.chat !== undefined && (
      <ChannelStep shop={shop.shop} platform={shop.platform} channel="web_chat">
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
  readonly platform: string;
  readonly channel: Channel;
  readonly children: ComponentChildren;
}) => (
  <li>
    <ChannelBadge channel={props.channel} />
    <p>{props.children}</p>
    <TestMessageButton shop={props.shop} platform={props.platform} channel={props.channel} />
  </li>
);
