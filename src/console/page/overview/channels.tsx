import type { Channel, ChannelFigures, History } from '../../contract.ts';
import { Chart, type ChartSeries } from '../chart/chart.tsx';
import { CHANNEL_NAMES, count, plural, rate } from '../formats.ts';
import { ChannelBadge } from '../ui/badge.tsx';
import { Skeleton } from '../ui/states.tsx';
import { type LivePoint, rateData } from './rates.ts';

const SERIES: readonly ChartSeries[] = [
  { label: 'Accepted', color: '--ink', isFilled: true },
  { label: 'Delivered', color: '--ok', isDashed: true },
];

interface Hour {
  readonly history: History | undefined;
  readonly live: readonly LivePoint[];
}

/** For each channel: how much comes in, and whether as much goes out. */
export const Channels = (props: Hour & { readonly channels: readonly ChannelFigures[] }) => (
  <div class="channels">
    {props.channels.map((figures) => (
      <ChannelCard key={figures.channel} {...props} figures={figures} />
    ))}
  </div>
);

function ChannelCard({ figures, history, live }: Hour & { readonly figures: ChannelFigures }) {
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
        {enabled ? notes(deliveredPerMinute, refusedPerMinute) : 'This channel has no open door.'}
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
