import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { overview } from '../stream.ts';
import { Card, Fact, NotLoaded, PageTitle } from '../ui/page-parts.tsx';
import type { Overview } from '../../contract.ts';
import { bytes, count, exact, span } from '../formats.ts';
import { now } from '../now.ts';
import { Channels, Latency, Queue } from './flow.tsx';
import { FirstMessages } from './first-messages.tsx';
import { useLiveHistory } from './rates.ts';
import './overview.css';
import { Shops } from './shops.tsx';
import { isUnused, Verdict } from './verdict.tsx';

/** The state of the gateway: issues, channels, queue, shops and the machine. */
export function OverviewPage() {
  // Requested in addition to the stream, since it is faster and its error can be shown.
  const initial = useLoad((signal) => api.overview(signal));
  const liveHistory = useLiveHistory();
  const figures = overview.value ?? initial.data;
  return (
    <>
      <PageTitle title="Overview" />
      {figures === undefined ? (
        <NotLoaded failure={initial.failure} onRetry={initial.reload} lines={3} height={120} />
      ) : (
        <div class="cards">
          <Verdict overview={figures} />
          {isUnused(figures) && <FirstMessages />}
          <Channels channels={figures.channels} {...liveHistory} />
          <div class="pair">
            <Queue overview={figures} {...liveHistory} />
            <Latency overview={figures} {...liveHistory} />
          </div>
          <Shops shops={figures.shops} />
          <Machine overview={figures} />
        </div>
      )}
    </>
  );
}

/** Disk, certificate, connections and uptime. */
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
