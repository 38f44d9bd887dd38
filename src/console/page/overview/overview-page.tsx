import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { overview } from '../stream.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Failure, Skeleton } from '../ui/states.tsx';
import { Channels } from './channels.tsx';
import { FirstMessages } from './first-messages.tsx';
import { Latency, Queue } from './flow.tsx';
import { useLiveHistory } from './live-history.ts';
import { Machine } from './machine.tsx';
import './overview.css';
import { Shops } from './shops.tsx';
import { hasNothing, Verdict } from './verdict.tsx';

/** Whether messages flow, at a glance; and where to look when they do not. */
export function OverviewPage() {
  // Sooner than the stream, and an error that can be shown.
  const asked = useLoad((signal) => api.overview(signal));
  const hour = useLiveHistory();
  const figures = overview.value ?? asked.data;
  return (
    <>
      <PageTitle title="Overview" />
      {figures === undefined ? (
        asked.failure === undefined ? (
          <Skeleton lines={3} height={120} />
        ) : (
          <Failure refusal={asked.failure} onRetry={asked.reload} />
        )
      ) : (
        <div class="overview">
          <Verdict overview={figures} />
          {hasNothing(figures) && <FirstMessages />}
          <Channels channels={figures.channels} {...hour} />
          <div class="pair">
            <Queue overview={figures} {...hour} />
            <Latency overview={figures} {...hour} />
          </div>
          <Shops shops={figures.shops} />
          <Machine overview={figures} />
        </div>
      )}
    </>
  );
}
