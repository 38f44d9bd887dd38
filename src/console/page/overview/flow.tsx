import type { History, Overview } from '../../contract.ts';
import { Chart } from '../chart/chart.tsx';
import { count, duration, plural, span } from '../formats.ts';
import { now } from '../now.ts';
import { Card } from '../ui/card.tsx';
import { Skeleton } from '../ui/states.tsx';
import { latencyData, type LivePoint, queueData } from './rates.ts';

interface FlowProps {
  readonly overview: Overview;
  readonly history: History | undefined;
  readonly live: readonly LivePoint[];
}

const HEIGHT = 148;

/** How many wait, for how long, and where those are that do not move. */
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

/** From acceptance to delivered. */
export function Latency({ overview, history, live }: FlowProps) {
  const { latency } = overview;
  return (
    <Card
      title="Accepted to delivered"
      tools={
        <span class="muted small">
          {latency === undefined ? 'none in 15 min' : `${plural(latency.count, 'message')}, 15 min`}
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
              ? 'Time to delivery over the last hour; nothing was delivered in the last 15 minutes.'
              : `Time to delivery over the last hour; median ${duration(latency.p50)}, 95th percentile ${duration(latency.p95)}.`
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
