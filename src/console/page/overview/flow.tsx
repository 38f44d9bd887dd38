import type { ComponentChildren } from 'preact';
import type { Channel, ChannelFigures, Overview } from '../../contract.ts';
import { Chart, type ChartSeries } from './chart.tsx';
import { newest } from './chart-data.ts';
import { CHANNEL_NAMES, count, duration, plural, rate, span } from '../formats.ts';
import { now } from '../now.ts';
import { Card, ChannelBadge } from '../ui/page-parts.tsx';
import { latencyData, type LiveHistory, queueData, rateData } from './rates.ts';

type FlowProps = LiveHistory & { readonly overview: Overview };

const HEIGHT = 148;

/** The number of messages in each unfinished state, and the age of the oldest queued one. */
export function Queue({ overview, history, live, markers, range }: FlowProps) {
  const { queued, oldestQueuedAt, dead, held } = overview.queue;
  const oldest = oldestQueuedAt === undefined ? 'none' : span(now.value - oldestQueuedAt);
  const figureOf = (name: string, state: QueueState, look?: 'danger' | 'warning') => (
    <Figure {...{ name, look }}>
      <a href={`/messages?state=${state}`}>{count(overview.queue[state])}</a>
    </Figure>
  );
  return (
    <Card title="Queue">
      <dl class="figures">
        {figureOf('Queued', 'queued')}
        <Figure name="Oldest">{oldest}</Figure>
        {figureOf('Delivering', 'delivering')}
        {figureOf('Dead', 'dead', dead > 0 ? 'danger' : undefined)}
        {figureOf('Held', 'held', held > 0 ? 'warning' : undefined)}
        {figureOf('Suppressed', 'suppressed')}
      </dl>
      <Chart
        description={`Queued messages over ${range.words}; now ${plural(queued, 'message')}.`}
        {...{ markers }}
        data={history && newest(queueData(history, live), range.ms)}
        series={[{ label: 'Queued', color: '--ink', isFilled: true }]}
        height={HEIGHT}
        leastTop={5}
        format={(value) => (Number.isInteger(value) ? count(value) : '')}
      />
    </Card>
  );
}

type QueueState = 'queued' | 'delivering' | 'dead' | 'held' | 'suppressed';

/** The time from acceptance to delivery. */
export function Latency({ overview, history, live, markers, range }: FlowProps) {
  const { latency } = overview;
  return (
    <Card
      title="Delivery time"
      tools={
        <span class="muted small">
          {latency === undefined
            ? 'no deliveries in 15 min'
            : `${plural(latency.count, 'message')}, 15 min`}
        </span>
      }
    >
      <dl class="figures">
        <Figure name="Median">{latency ? duration(latency.p50) : '–'}</Figure>
        <Figure name="95th">{latency ? duration(latency.p95) : '–'}</Figure>
        <Figure name="99th">{latency ? duration(latency.p99) : '–'}</Figure>
      </dl>
      <Chart
        description={
          latency === undefined
            ? `Delivery time over ${range.words}; no deliveries in the last 15 minutes.`
            : `Delivery time over ${range.words}; median ${duration(latency.p50)}, 95th percentile ${duration(latency.p95)}.`
        }
        {...{ markers }}
        data={history && newest(latencyData(history, live), range.ms)}
        series={[
          { label: 'Median', color: '--ink', isScattered: true },
          { label: '95th percentile', color: '--warning', isDashed: true, isScattered: true },
        ]}
        height={HEIGHT}
        leastTop={100}
        format={duration}
      />
    </Card>
  );
}

const Figure = (props: {
  readonly name: string;
  readonly look?: 'danger' | 'warning' | undefined;
  readonly children: ComponentChildren;
}) => (
  <div class={props.look}>
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
);

const SERIES: readonly ChartSeries[] = [
  { label: 'Accepted', color: '--ink', isFilled: true },
  { label: 'Delivered', color: '--ok', isDashed: true },
];

/** One card per channel: accepted and delivered messages per minute. */
export const Channels = (props: LiveHistory & { readonly channels: readonly ChannelFigures[] }) => (
  <div class="channels">
    {props.channels.map((figures) => (
      <ChannelCard key={figures.channel} {...props} figures={figures} />
    ))}
  </div>
);

function ChannelCard(props: LiveHistory & { readonly figures: ChannelFigures }) {
  const { figures, history, live, markers, range } = props;
  const { channel, enabled, acceptedPerMinute, deliveredPerMinute, refusedPerMinute } = figures;
  const name = CHANNEL_NAMES[channel];
  return (
    <section class="card" aria-label={name}>
      <header>
        <h2>
          <ChannelBadge channel={channel} />
        </h2>
        <a class="muted small quiet-link" href={`/messages?channel=${channel}`}>
          {count(figures.accepted)} <span class="muted">since start</span>
        </a>
      </header>
      <p class="figure" data-accepted={channel}>
        {enabled ? rate(acceptedPerMinute) : 'Off'}
        {enabled && <small>/ min</small>}
      </p>
      <p class="muted small figure-note">
        {enabled ? notes(deliveredPerMinute, refusedPerMinute) : 'This channel is disabled.'}
      </p>
      <Chart
        description={describe(channel, figures, range.words)}
        {...{ markers }}
        data={history && newest(rateData(history, live, channel), range.ms)}
        series={SERIES}
        height={132}
        leastTop={5}
        format={rate}
      />
    </section>
  );
}

const notes = (delivered: number, refused: number): string =>
  `${rate(delivered)} delivered${refused > 0 ? `, ${plural(refused, 'refused', 'refused')}` : ''} / min`;

const describe = (channel: Channel, figures: ChannelFigures, range: string): string =>
  `${CHANNEL_NAMES[channel]} over ${range}; now ${rate(figures.acceptedPerMinute)} accepted and ` +
  `${rate(figures.deliveredPerMinute)} delivered per minute.`;
