import type { Overview } from '../../contract.ts';
import { count, span } from '../formats.ts';
import { Badge, Card } from '../ui/page-parts.tsx';

/** A gateway that has not reported for this long does not run, or does not reach the database. */
const MISSED_AFTER_MS = 30_000;

type Instance = NonNullable<Overview['instances']>[number];

/** The gateways with this store. The figures above are those of the gateway that shows the page. */
export const Instances = ({ instances }: { readonly instances: readonly Instance[] }) => (
  <Card title="Gateways">
    <ul class="instances rows">
      {instances.map((instance) => (
        <li key={instance.name}>
          <span class="shop-name" title={instance.name}>
            {instance.host}
          </span>
          <Presence instance={instance} />
          <span>
            {count(instance.acceptedPerMinute)} accepted, {count(instance.deliveredPerMinute)}{' '}
            delivered per minute
          </span>
          <span class="muted">
            {count(instance.sockets.chat)} chat, {count(instance.sockets.smtp)} SMTP
          </span>
          <span class="muted shop-last">
            Sluice {instance.version}, up {span(instance.uptimeMs)}
          </span>
        </li>
      ))}
    </ul>
  </Card>
);

function Presence({ instance: { isOwn, seenAgoMs } }: { readonly instance: Instance }) {
  if (seenAgoMs > MISSED_AFTER_MS) {
    return <Badge tone="warning" icon="alert">{`last seen ${span(seenAgoMs)} ago`}</Badge>;
  }
  return (
    <Badge tone="ok" icon="ok">
      {isOwn ? 'running, this one' : 'running'}
    </Badge>
  );
}
