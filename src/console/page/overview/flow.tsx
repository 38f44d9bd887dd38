import type { Channel, ChannelFigures, History, Overview } from '../../contract.ts';
import { Chart, type ChartSeries } from './chart.tsx';
import { CHANNEL_NAMES, count, duration, plural, rate, span } from '../formats.ts';
import { now } from '../now.ts';
import { Card, ChannelBadge, Skeleton } from '../ui/page-parts.tsx';
import { latencyData, type LivePoint, queueData, rateData } from './rates.ts';

interface FlowProps {
  readonly overview: Overview;
  readonly history: History | undefined;
  readonly live: readonly LivePoint[];
}

const HEIGHT = 148;

/** The number of messages in each unfinished state, and the age of the oldest queued one. */
export function Queue({ overview, history, live }: FlowProps) {
  const { queued, delivering, oldestQueuedAt, dead, held, suppressed } = overview.queue;
  return (
    <Card title="Queue">
      <dl class="figures">
        <Figure href="/messages?state=queued" name="Queued" value={count(queued)} />
        <Figure
          name="Oldest"
          value={oldestQueuedAt === undefined ? 'none' : span(now.value - oldestQueuedAt)}
        />
        <Figure href="/messages?state=delivering" name="Delivering" value={count(delivering)} />
        <Figure
          href="/messages?state=dead"
          name="Dead"
          value={count(dead)}
          {...(dead > 0 && { tone: 'danger' })}
        />
        <Figure
          href="/messages?state=held"
          name="Held"
          value={count(held)}
          {...(held > 0 && { tone: 'warning' })}
        />
        <Figure href="/messages?state=suppressed" name="Suppressed" value={count(suppressed)} />
      </dl>
      {history === undefined ? (
        <Skeleton height={HEIGHT} />
      ) : (
        <Chart
          description={`Queued messages over the last hour; now ${plural(queued, 'message')}.`}
          data={queueData(history, live)}
          series={[{ label: 'Queued', color: '--ink', isFilled: true }]}
          height={HEIGHT}
          leastTop={5}
          format={(value) => (Number.isInteger(value) ? count(value) : '')}
        />
      )}
    </Card>
  );
}

/** The time from acceptance to delivery. */
export function Latency({ overview, history, live }: FlowProps) {
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
        <Figure name="Median" value={latency ? duration(latency.p50) : '–'} />
        <Figure name="95th" value={latency ? duration(latency.p95) : '–'} />
        <Figure name="99th" value={latency ? duration(latency.p99) : '–'} />
      </dl>
      {history === undefined ? (
        <Skeleton height={HEIGHT} />
      ) : (
        <Chart
          description={
            latency === undefined
              ? 'Delivery time over the last hour; no deliveries in the last 15 minutes.'
              : `Delivery time over the last hour; median ${duration(latency.p50)}, 95th percentile ${duration(latency.p95)}.`
          }
          data={latencyData(history, live)}
          series={[
            { label: 'Median', color: '--ink', isScattered: true },
            { label: '95th percentile', color: '--warning', isDashed: true, isScattered: true },
          ]}
          height={HEIGHT}
          leastTop={100}
          format={duration}
        />
      )}
    </Card>
  );
}

function Figure(props: {
  readonly name: string;
  readonly value: string;
  readonly href?: string;
  readonly tone?: 'danger' | 'warning';
}) {
  return (
    <div class={props.tone}>
      <dt>{props.name}</dt>
      <dd>{props.href === undefined ? props.value : <a href={props.href}>{props.value}</a>}</dd>
    </div>
  );
}

const SERIES: readonly ChartSeries[] = [
  { label: 'Accepted', color: '--ink', isFilled: true },
  { label: 'Delivered', color: '--ok', isDashed: true },
];

interface HistoryProps {
  readonly history: History | undefined;
  readonly live: readonly LivePoint[];
}

/** One card per channel: accepted and delivered messages per minute. */
export const Channels = (
  props: HistoryProps & { readonly channels: readonly ChannelFigures[] },
) => (
  <div class="channels">
    {props.channels.map((figures) => (
      <ChannelCard key={figures.channel} {...props} figures={figures} />
    ))}
  </div>
);

function ChannelCard({
  figures,
  history,
  live,
}: HistoryProps & { readonly figures: ChannelFigures }) {
  const { channel, enabled, acceptedPerMinute, deliveredPerMinute, refusedPerMinute } = figures;
  const name = CHANNEL_NAMES[channel];
  return (
    <section class="card" aria-label={name}>
      <header>
        <h2>
          <ChannelBadge channel={channel} />
        </h2>
        <a class="muted quiet-link" href={`/messages?channel=${channel}`}>
          {count(figures.accepted)} <span class="muted">since start</span>
        </a>
      </header>
      <p class="figure" data-accepted={channel}>
        {enabled ? rate(acceptedPerMinute) : 'Off'}
        {enabled && <small>/ min</small>}
      </p>
      <p class="muted figure-note">
        {enabled ? notes(deliveredPerMinute, refusedPerMinute) : 'This channel is disabled.'}
      </p>
      {history === undefined ? (
        <Skeleton height={132} />
      ) : (
        <Chart
          description={describe(channel, figures)}
          data={rateData(history, live, channel)}
          series={SERIES}
          height={132}
          leastTop={5}
          format={rate}
        />
      )}
    </section>
  );
}

const notes = (delivered: number, refused: number): string =>
  `${rate(delivered)} delivered${refused > 0 ? `, ${plural(refused, 'refused', 'refused')}` : ''} / min`;

const describe = (channel: Channel, figures: ChannelFigures): string =>
  `${CHANNEL_NAMES[channel]} over the last hour; now ${rate(figures.acceptedPerMinute)} accepted and ` +
  `${rate(figures.deliveredPerMinute)} delivered per minute.`;
