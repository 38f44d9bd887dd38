import { api, useLoad } from '../api.ts';
import { overview } from '../stream.ts';
import { Card, Fact, Failure, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import type { Overview } from '../../contract.ts';
import { bytes, count, exact, span } from '../formats.ts';
import { now } from '../now.ts';
import { Channels, Latency, Queue } from './flow.tsx';
import { FirstMessages } from './first-messages.tsx';
import { useLiveHistory } from './rates.ts';
import './overview.css';
import { Shops } from './shops.tsx';
import { hasNothing, Verdict } from './verdict.tsx';

/** Whether messages flow, at a glance; and where to look when they do not. */
export function OverviewPage() {
  // Asked besides the stream: it answers sooner, and its error can be shown.
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

/** What the gateway stands on. */
function Machine({ overview }: { readonly overview: Overview }) {
  const { disk, certificate, sockets, startedAt, version } = overview;
  const used = 1 - disk.freeBytes / Math.max(1, disk.totalBytes);
  return (
    <Card title="Machine">
      <dl class="machine">
        <Fact name="Disk">
          <meter
            aria-label="Disk used"
            min={0}
            max={1}
            high={0.85}
            optimum={0}
            value={Math.min(1, used)}
          />
          {bytes(disk.freeBytes)} free of {bytes(disk.totalBytes)}
          <span class="muted">refuses below {bytes(disk.reserveBytes)}</span>
        </Fact>
        <Fact name="Certificate">
          {certificate === undefined ? (
            <span class="muted">no TLS</span>
          ) : (
            <>
              <span title={exact(certificate.endsAt)}>
                {certificate.endsAt > now.value
                  ? `ends in ${span(certificate.endsAt - now.value)}`
                  : 'has expired'}
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
        <Fact name="Running">
          <span title={exact(startedAt)}>{span(now.value - startedAt)}</span>
          <span class="muted">Sluice {version}</span>
        </Fact>
      </dl>
    </Card>
  );
}
