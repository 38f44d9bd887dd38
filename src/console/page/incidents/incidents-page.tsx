import type { Incident } from '../../contract.ts';
import { api } from '../api.ts';
import { dateTime, duration, exact } from '../formats.ts';
import { useLoad } from '../loading.ts';
import { now } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { Badge, Empty, NotLoaded, PageTitle, TableCard } from '../ui/page-parts.tsx';
import './incidents.css';

const COLUMNS = ['Began', 'What', 'Lasted'];

/** What happened at this gateway: alerts, starts and reloads, the newest first. */
export function IncidentsPage() {
  const { data, failure, reload, loading } = useLoad((signal) => api.incidents(signal));
  return (
    <>
      <PageTitle title="Incidents">
        <Button icon="again" busy={loading && data !== undefined} onClick={reload}>
          Newest
        </Button>
      </PageTitle>
      {data === undefined && <NotLoaded {...{ failure }} onRetry={reload} lines={8} height={24} />}
      {data?.incidents.length === 0 && (
        <Empty icon="ok" title="No incidents yet">
          Alerts, starts of the gateway and reloads of its configuration are listed here.
        </Empty>
      )}
      {data !== undefined && data.incidents.length > 0 && (
        <TableCard class="incidents" columns={COLUMNS}>
          {data.incidents.map((incident, index) => (
            <tr key={index}>
              <td class="nowrap">
                <time dateTime={new Date(incident.at).toISOString()} title={exact(incident.at)}>
                  {dateTime(incident.at)}
                </time>
              </td>
              <td>
                <What {...{ incident }} />
              </td>
              <td class="nowrap muted">
                <Lasted {...{ incident }} />
              </td>
            </tr>
          ))}
        </TableCard>
      )}
    </>
  );
}

function What({ incident }: { readonly incident: Incident }) {
  if (incident.kind === 'start') return <>The gateway started</>;
  if (incident.kind === 'reload') {
    const by = incident.who === undefined ? '' : ` by ${incident.who}`;
    return (
      <>
        The configuration was reloaded{by}: {incident.outcome}
      </>
    );
  }
  const isCritical = incident.severity === 'critical';
  return (
    <>
      <Badge tone={isCritical ? 'danger' : 'warning'} icon={isCritical ? 'alert' : 'warning'}>
        {incident.shop ?? 'gateway'}
      </Badge>{' '}
      {incident.summary}
    </>
  );
}

function Lasted({ incident }: { readonly incident: Incident }) {
  if (incident.kind !== 'alert') return null;
  if (incident.until !== undefined) return <>{duration(incident.until - incident.at)}</>;
  return <b>{duration(now.value - incident.at)} so far</b>;
}
