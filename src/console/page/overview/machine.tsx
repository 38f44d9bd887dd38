import type { Overview } from '../../contract.ts';
import { bytes, count, exact, span } from '../formats.ts';
import { now } from '../now.ts';
import { Card } from '../ui/card.tsx';
import { Fact } from '../ui/fact.tsx';

/** What the gateway stands on. */
export function Machine({ overview }: { readonly overview: Overview }) {
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
