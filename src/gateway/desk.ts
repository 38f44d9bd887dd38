import { type DeskAccess, deskSummary } from '../console/server/desk-access.ts';
import type { GatewayStatus } from '../observability/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import type { LiveConfig } from './live-config.ts';
import type { Platforms } from './platforms.ts';

/** How the console reaches the desk of the shops on the local platform. */
export const deskAccess = (
  live: Pick<LiveConfig, 'value'>,
  { desk, outbox }: Pick<Platforms, 'desk' | 'outbox'>,
): DeskAccess => ({
  port: desk,
  outbox,
  shops: () =>
    live.value.shops.map((shop) => ({
      ...{ name: shop.name, shopId: shop.shopId },
      isLocal: platformUrlOf(live.value, shop) === LOCAL,
      ...(shop.desk.answerWithin !== 'forever' && { answerWithinMs: shop.desk.answerWithin }),
    })),
});

/** What waits for people, for the gateway's status. */
export const waitingTickets = (desk: DeskAccess, clock: Clock): GatewayStatus['waitingTickets'] =>
  deskSummary(desk, clock).shops.flatMap(({ isLocal, undelivered, ...shop }) =>
    isLocal ? [shop] : [],
  );
