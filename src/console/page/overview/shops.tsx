import type { ShopFigures } from '../../contract.ts';
import { count, relative } from '../formats.ts';
import { now } from '../now.ts';
import { Badge } from '../ui/badge.tsx';
import { Card } from '../ui/card.tsx';
import { Time } from '../ui/time.tsx';

/** Each shop: whether its platform answers, and what of it does not move. */
export const Shops = ({ shops }: { readonly shops: readonly ShopFigures[] }) => (
  <Card title="Shops">
    <ul class="shops">
      {shops.map((shop) => (
        <li key={shop.shop}>
          <a class="shop-name" href={`/messages?shop=${encodeURIComponent(shop.shop)}`}>
            {shop.shop}
          </a>
          <span class="shop-breakers">
            {shop.breakers.map((breaker) => (
              <BreakerBadge key={breaker.part} breaker={breaker} />
            ))}
          </span>
          <span class="shop-counts">
            <Count shop={shop.shop} state="queued" value={shop.queued} />
            <Count shop={shop.shop} state="dead" value={shop.dead} />
            <Count shop={shop.shop} state="held" value={shop.held} />
          </span>
          <span class="muted shop-last">
            {shop.lastDeliveredAt === undefined ? (
              'nothing delivered yet'
            ) : (
              <>
                delivered <Time at={shop.lastDeliveredAt} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  </Card>
);

const PARTS = { messages: 'Messages', media: 'Attachments' } as const;

function BreakerBadge({ breaker }: { readonly breaker: ShopFigures['breakers'][number] }) {
  const { part, state, nextProbeAt } = breaker;
  const name = PARTS[part];
  if (state === 'closed') return <Badge tone="ok" icon="ok">{`${name} pass`}</Badge>;
  if (state === 'probing')
    return <Badge tone="warning" icon="again">{`${name} are tried again`}</Badge>;
  const next = nextProbeAt === undefined ? '' : `, next try ${relative(nextProbeAt, now.value)}`;
  return <Badge tone="danger" icon="alert">{`${name} stopped${next}`}</Badge>;
}

const Count = (props: {
  readonly shop: string;
  readonly state: 'queued' | 'dead' | 'held';
  readonly value: number;
}) =>
  props.value === 0 ? (
    <span class="muted">0 {props.state}</span>
  ) : (
    <a
      class={props.state === 'queued' ? undefined : 'strong'}
      href={`/messages?shop=${encodeURIComponent(props.shop)}&state=${props.state}`}
    >
      {count(props.value)} {props.state}
    </a>
  );
