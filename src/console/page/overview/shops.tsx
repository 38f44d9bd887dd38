import type { Condition, Overview, ShopFigures } from '../../contract.ts';
import { count, due } from '../formats.ts';
import { now } from '../now.ts';
import { Badge, Card, Time } from '../ui/page-parts.tsx';
import { canBeTried } from './issues.ts';
import { TryButton } from './try-button.tsx';

/** Each shop with the state of its platform and its unfinished messages. */
export const Shops = ({ overview }: { readonly overview: Overview }) => (
  <Card title="Shops">
    <ul class="shops rows">
      {overview.shops.map((shop) => (
        <Shop
          key={shop.shop}
          shop={shop}
          conditions={overview.conditions.filter((each) => each.shop === shop.shop)}
        />
      ))}
    </ul>
  </Card>
);

const Shop = (props: { readonly shop: ShopFigures; readonly conditions: readonly Condition[] }) => {
  const { shop, conditions } = props;
  return (
    <li>
      <a class="shop-name" href={`/messages?shop=${encodeURIComponent(shop.shop)}`}>
        {shop.shop}
      </a>
      <span class="shop-breakers">
        {shop.breakers.map((breaker) => (
          <BreakerBadge
            key={breaker.part}
            breaker={breaker}
            isRecovering={
              breaker.part === 'messages' && conditions.some(({ kind }) => kind === 'recovering')
            }
          />
        ))}
      </span>
      <span class="shop-counts">
        <Count shop={shop.shop} state="queued" value={shop.queued} />
        <Count shop={shop.shop} state="dead" value={shop.dead} />
        <Count shop={shop.shop} state="held" value={shop.held} />
      </span>
      <span class="muted shop-last">
        {shop.lastDeliveredAt === undefined ? (
          'no delivery since the start'
        ) : (
          <>
            last delivery <Time at={shop.lastDeliveredAt} />
          </>
        )}
      </span>
      {isStalled(shop) && !conditions.some(({ kind }) => canBeTried(kind)) && (
        <TryButton shop={shop.shop} />
      )}
    </li>
  );
};

/** Whether messages are queued and none was delivered recently; what is known of the cause stands above. */
const isStalled = ({ queued, lastDeliveredAt = 0 }: ShopFigures): boolean =>
  queued > 0 && now.value - lastDeliveredAt > STALLED_AFTER_MS;
const STALLED_AFTER_MS = 15_000;

const PARTS = { messages: 'Messages', media: 'Attachments' } as const;

function BreakerBadge(props: {
  readonly breaker: ShopFigures['breakers'][number];
  readonly isRecovering: boolean;
}) {
  const { breaker, isRecovering } = props;
  const { part, state, since, nextProbeAt } = breaker;
  const name = PARTS[part];
  if (state === 'closed' && since !== undefined) {
    return <Badge tone="warning" icon="warning">{`${name}: some fail`}</Badge>;
  }
  if (isRecovering) return <Badge tone="warning" icon="play">{`${name}: recovering`}</Badge>;
  if (state === 'closed') return <Badge tone="ok" icon="ok">{`${name} accepted`}</Badge>;
  if (state === 'probing') return <Badge tone="warning" icon="again">{`${name}: retrying`}</Badge>;
  const next = nextProbeAt === undefined ? '' : `, next attempt ${due(nextProbeAt, now.value)}`;
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
